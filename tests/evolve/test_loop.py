"""How the command turns its arguments into a run, and the end of a run into a status."""

import signal
from pathlib import Path

import pytest

from evolve import policy_run
from evolve.config import Options
from evolve.journal import Journal
from evolve.loop import main
from evolve.means import Means
from policies.errors import ConfigError, RunStoppedError


@pytest.fixture
def runs(monkeypatch):
    """Keeps what runs are asked for instead of running; ``ends`` is called in place of each."""

    class Runs:
        asked: tuple = ()
        ends = staticmethod(lambda: None)

    def run(options, folder, means, watch, *, resume=False, estimate=None):
        Runs.asked = (options, folder, means, resume)
        Runs.estimate = estimate
        Runs.ends()

    monkeypatch.setattr(policy_run, "policy_run", run)
    return Runs


def test_a_new_run(runs):
    line = "--budget 60 --seed 3 --later-rounds 4 --jobs 5 --runs somewhere --name here"
    assert main(line.split()) == 0
    options = Options(60, seed=3, later_rounds=4)
    assert runs.asked == (options, Path("somewhere/here"), Means(jobs=5), False)


def test_a_run_without_a_name_has_one_by_time_and_strategy(runs):
    assert main(["--budget", "60", "--strategy", "placebo"]) == 0
    folder = runs.asked[1]
    assert folder.parent == Path("runs")
    assert folder.match("[0-9]*-[0-9]*-placebo-[0-9]*")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/tmp", "a/"])
def test_a_name_is_that_of_one_folder(runs, name, capsys):
    assert main(["--budget", "60", "--name", name]) == 2
    assert "--name must name one folder inside --runs" in capsys.readouterr().err
    assert runs.asked == ()


def test_a_resumed_run_has_the_options_that_began_it(runs, tmp_path):
    header = {"options": Options(60, seed=3).as_dict()}
    with Journal(tmp_path, header, resume=False):
        pass
    assert main(["--resume", str(tmp_path), "--seed", "4", "--jobs", "1"]) == 0
    assert runs.asked == (Options(60, seed=4), tmp_path, Means(jobs=1), True)


@pytest.mark.parametrize("name", ["first", "latest"])
def test_a_run_is_resumed_by_its_name_too(runs, name, tmp_path, monkeypatch):
    with Journal(
        tmp_path / "kept" / "first", {"options": Options(60, seed=3).as_dict()}, resume=False
    ):
        pass
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first").mkdir()  # holds no run
    assert main(["--resume", name, "--runs", "kept", "--jobs", "1"]) == 0
    assert runs.asked == (Options(60, seed=3), Path("kept/first"), Means(jobs=1), True)


def test_the_latest_run_is_the_same_one_to_the_end(runs, tmp_path, monkeypatch):
    def begin(name):
        with Journal(tmp_path / name, {"options": Options(60).as_dict()}, resume=False):
            pass

    begin("first")
    monkeypatch.setattr("evolve.loop._tell_import", lambda policy: begin("second"))
    assert main(["--resume", "latest", "--runs", str(tmp_path), "--jobs", "1"]) == 0
    assert runs.asked[1] == tmp_path / "first"


def test_a_resumed_run_takes_no_new_name(runs, tmp_path, capsys):
    with Journal(tmp_path, {"options": Options(60).as_dict()}, resume=False):
        pass
    assert main(["--resume", str(tmp_path), "--name", "other"]) == 2
    assert "but --name is other; leave one of the two out" in capsys.readouterr().err
    assert runs.asked == ()


def stopped():
    signal.raise_signal(signal.SIGTERM)
    raise RunStoppedError


def test_a_stopped_run_says_how_to_go_on(runs, tmp_path, capsys):
    folder = tmp_path / "my runs" / "it's"
    with Journal(folder, {"options": Options(60).as_dict()}, resume=False):
        pass
    runs.ends = stopped
    assert main(["--resume", str(folder), "--jobs", "1"]) == 143
    said = capsys.readouterr().err
    quoted = f"""'{tmp_path}/my runs/it'"'"'s'"""
    assert said == f"stopped; go on with: python -m evolve.loop --resume {quoted}\n"


def test_stopped_before_it_began_there_is_nothing_to_resume(runs, tmp_path, capsys):
    runs.ends = stopped
    assert main(["--budget", "60", "--runs", str(tmp_path), "--name", "x", "--jobs", "1"]) == 143
    assert capsys.readouterr().err == (
        "stopped; nothing was spent yet: begin again with the same command\n"
    )


def test_a_mistake_is_one_line_and_defects_pass(runs, capsys):
    def mistaken():
        raise ConfigError("A rule.")

    def defect():
        raise ZeroDivisionError

    runs.ends = mistaken
    assert main(["--budget", "60"]) == 2
    assert capsys.readouterr().err == "error: A rule.\n"
    runs.ends = defect
    with pytest.raises(ZeroDivisionError):
        main(["--budget", "60"])


def test_signals_are_given_back(runs):
    before = signal.getsignal(signal.SIGINT)
    main(["--budget", "60"])
    assert signal.getsignal(signal.SIGINT) is before
