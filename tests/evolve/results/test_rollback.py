"""Going back to an older version: journaled, in best.yaml, and still so after a resume."""

import json

import pytest

from evolve.folder import BEST, SUMMARY
from evolve.journal import FILE, locked
from evolve.results.rollback import roll_back
from evolve.results.run_record import read_run
from policies.errors import RunFolderError
from policies.policy import read_policy


def test_best_is_the_older_version_and_the_summary_stays(run):
    record = read_run(run)
    before = (run / SUMMARY).read_bytes()
    older = record.versions[1]
    roll_back(record, older)
    assert read_policy(run / BEST).id == older.id != record.best.id
    assert (run / SUMMARY).read_bytes() == before
    last = json.loads((run / FILE).read_bytes().splitlines()[-1])
    assert (last["kind"], last["key"]) == ("rollback", older.id)
    assert last["data"]["instead_of"] == record.best.id


def test_what_is_known_of_test_users_stands_in_the_file(run):
    found = read_run(run).best
    roll_back(read_run(run), read_run(run).seed)
    seed = read_run(run).summary["test"]["seed"]
    scores = read_policy(run / BEST).scores
    assert (scores["split"], scores["accuracy"]) == ("test", seed["accuracy"])
    assert scores["memory_gain"] is None
    roll_back(read_run(run), found)
    scores = read_policy(run / BEST).scores
    gain = read_run(run).summary["gain"]
    assert scores["memory_gain"] == [gain["memory"], gain["low"], gain["high"]]
    assert read_run(run).rollbacks == (read_run(run).seed.id, found.id)


def test_a_resumed_run_replays_and_keeps_to_it(run, resume):
    roll_back(read_run(run), read_run(run).versions[1])
    files = {path: path.read_bytes() for path in run.rglob("*.[jy]*")}
    (run / BEST).unlink()
    said = resume(run)
    assert {path: path.read_bytes() for path in run.rglob("*.[jy]*")} == files
    last = said.splitlines()[-2]
    assert last.startswith("the run was rolled back: best.yaml is awi-gen-")
    assert last.endswith("not the best version above")
    found = next(p for p in read_run(run).versions if p.id == read_run(run).summary["best_policy"])
    roll_back(read_run(run), found)
    assert "rolled back" not in resume(run)


def test_what_cannot_be_rolled_back(run, made):
    record = read_run(run)
    others = "in force already; name one of .*" + record.versions[-2].short_id
    with pytest.raises(RunFolderError, match=others):
        roll_back(record, record.best)
    with locked(run), pytest.raises(RunFolderError, match="in use by another"):
        roll_back(record, record.seed)
    (run / SUMMARY).unlink()
    with pytest.raises(RunFolderError, match="when it has ended"):
        roll_back(read_run(run), record.seed)
    assert (run / FILE).read_bytes() == (made / "runs" / "mine" / FILE).read_bytes()


def test_the_same_command_mends_a_file_that_could_not_be_written(run, monkeypatch):
    older = read_run(run).versions[1]

    def full(path, text):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("evolve.results.rollback.write_whole", full)
        with pytest.raises(RunFolderError, match="give the same command again"):
            roll_back(read_run(run), older)
    journal = (run / FILE).read_bytes()
    roll_back(read_run(run), older)
    assert read_policy(run / BEST).id == older.id
    assert (run / FILE).read_bytes() == journal
    (run / BEST).write_text("")
    roll_back(read_run(run), older)
    with pytest.raises(RunFolderError, match="in force already"):
        roll_back(read_run(run), older)
