"""``python -m evolve.runs``: its commands from arguments to exit status."""

import io
import json
import sys

import pytest

from evolve.agents.own import declare_agent
from evolve.runs import DECLINED, main
from policies.policy import read_policy, write_policy


@pytest.fixture
def command(run, tmp_path, monkeypatch, capsys):
    """Runs the command beside ``runs``; status, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def call(*arguments):
        capsys.readouterr()
        status = main(arguments)
        said = capsys.readouterr()
        return status, said.out, said.err

    return call


@pytest.fixture
def answer(monkeypatch):
    """Lets a terminal answer what is asked there."""

    def give(text):
        typed = io.StringIO(text)
        typed.isatty = lambda: True
        monkeypatch.setattr(sys, "stdin", typed)

    return give


def test_looking_at_runs(command):
    status, out, _ = command("list")
    assert status == 0
    assert out.splitlines()[2].startswith("mine  ended")
    assert json.loads(command("list", "--json")[1])["runs"][0]["name"] == "mine"
    assert command("show", "latest")[1].startswith("Run mine\n")
    assert json.loads(command("show", "mine", "--json")[1])["run"] == "mine"
    assert "--- " in command("diff", "mine:seed", "mine")[1]
    assert json.loads(command("diff", "mine:seed", "mine", "--json")[1])["difference"]
    assert command("list", "--runs", "nowhere")[1].startswith("no run in nowhere;")
    assert json.loads(command("list", "--runs", "nowhere", "--json")[1])["runs"] == []


def test_a_policy_file_of_a_memory_system_of_ones_own(command, monkeypatch):
    name = "evolve.agents.example:UserWords"
    write_policy(declare_agent(name), "words.yaml")
    monkeypatch.setattr("policies.declared._DECLARED", {})  # as in another process
    assert "add --agent with this name" in command("diff", "words.yaml", "awe")[2]
    assert command("diff", "words.yaml", "awe", "--agent", name)[0] == 0


def test_going_back(command, run):
    found = read_policy(run / "best.yaml")
    status, out, _ = command("rollback", "mine", "seed")
    assert (status, found.short_id in out) == (0, True)
    assert read_policy(run / "best.yaml").name == "awi-seed"
    told = json.loads(command("rollback", "mine", found.short_id, "--json")[1])
    assert (told["policy"], told["file"]) == (found.id, "runs/mine/best.yaml")


def test_what_cannot_be_undone_is_asked_first(command, answer, run):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for name, told in (("redact", "nothing was redacted"), ("purge", "nothing was removed")):
        status, _, err = command(name, "mine")
        assert (status, "no terminal to ask on; give --yes." in err) == (2, True)
        for text in ("", "no\n", "\n"):
            answer(text)
            status, _, err = command(name, "mine")
            assert (status, told in err) == (DECLINED, True)
        answer("")
        sys.stdin.isatty = lambda: False
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    answer("y\n")
    status, out, _ = command("redact", "mine")
    assert (status, "without what users said" in out) == (0, True)
    (run / "notes.txt").write_text("mine")
    told = json.loads(command("redact", "mine", "--yes", "--json")[1])
    assert told["unknown"] == ["notes.txt"]
    assert "notes.txt" in command("redact", "mine", "--yes")[1]
    told = json.loads(command("purge", "mine", "--yes", "--json")[1])
    assert (told["removed"], run.exists()) == ("runs/mine", False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "none"),
        ("show", "x" * 300),
        ("diff", "mine", "x" * 300),
        ("purge", "x" * 300, "--yes"),
        ("diff", "mine", "nothing"),
        ("rollback", "mine", "none"),
        ("rollback", "mine", "best"),
        ("redact", "none", "--yes"),
        ("purge", "..", "--yes"),
    ],
)
def test_mistakes_are_told_in_one_sentence(command, arguments):
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("shwo", "mine"), ("show",), ("diff", "mine")])
def test_mistakes_on_the_command_line(command, arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        command(*arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
