"""Runs at a glance: ended, unfinished, redacted and unreadable ones."""

import json
import os
import shutil

from evolve.folder import SUMMARY
from evolve.journal import FILE
from evolve.results.listing import list_runs, listing, to_json
from evolve.results.redaction import redact
from evolve.results.rollback import roll_back
from evolve.results.run_record import read_run
from evolve.tables import plain


def test_every_run_in_order_of_change(run, tmp_path):
    runs = tmp_path / "runs"
    for number, name in enumerate(("broken", "going", "secret")):
        shutil.copytree(run, runs / name)
        os.utime(runs / name / FILE, (number, number))
    (runs / "broken" / FILE).write_text("none\n")
    (runs / "going" / SUMMARY).unlink()
    (runs / "empty").mkdir()
    (runs / "file").write_text("")
    redact(runs / "secret")
    os.utime(runs / "broken" / FILE, (0, 0))
    os.utime(runs / "secret" / FILE, (2, 2))
    found = list_runs(runs)
    assert [(one.name, one.state.split(":")[0]) for one in found] == [
        ("broken", "unreadable"),
        ("going", "unfinished"),
        ("secret", "redacted"),
        ("mine", "ended"),
    ]
    told = json.loads(to_json(found))["runs"]
    assert told[0]["state"].startswith("unreadable: Every line of a journal")
    assert told[1]["spent"] is None
    record = read_run(run)
    assert told[3]["best"] == record.best.short_id
    assert told[3]["versions"] == len(record.versions) - 1
    assert told[3]["memory"]["best"] == record.summary["test"]["best"]["memory"]
    tables = listing(found, runs)
    shown = plain(tables[0]).splitlines()
    assert shown[-1].split()[:4] == ["mine", "ended", "self-evolution", "awi"]
    assert tables[1].rows[0][0] == "broken"


def test_a_rollback_is_seen_at_a_glance(run):
    found = read_run(run).best
    roll_back(read_run(run), read_run(run).seed)
    (one,) = list_runs(run.parent)
    assert (one.best, one.found) == (read_run(run).seed.short_id, found.short_id)
    assert f"ended, rolled back to {one.best}" in plain(listing([one], run.parent)[0])
    roll_back(read_run(run), found)
    (one,) = list_runs(run.parent)
    assert one.shown_state == "ended"


def test_a_run_of_scope_user(lives):
    (one,) = list_runs(lives.parent)
    periods = read_run(lives).summary["periods"]["all"]
    assert one.memory == (periods["fixed"]["memory"], periods["learned"]["memory"])
    assert (one.best, one.versions) == (None, None)
    assert plain(listing([one], lives.parent)[0]).splitlines()[-1].startswith("own  ended")


def test_no_runs(tmp_path):
    assert list_runs(tmp_path / "runs") == []
    assert list_runs(tmp_path / ("x" * 300)) == []
    assert listing([], tmp_path) == []
