"""One run in numbers, as tables and as JSON."""

import json

from evolve.folder import SUMMARY
from evolve.results.overview import overview, to_json
from evolve.results.rollback import roll_back
from evolve.results.run_record import read_run
from evolve.tables import plain


def test_a_run_as_tables(run):
    tables = {table.title: table for table in overview(read_run(run))}
    assert list(tables) == ["Run mine", "Versions, the seed first", "Candidates", "Test users"]
    said = dict(tables["Run mine"].rows)
    assert said["state"] == "ended"
    assert said["best policy"] == "awi-gen-002.0 " + read_run(run).best.short_id
    assert said["paid"] == "-"
    outcomes = dict(tables["Candidates"].rows)
    assert outcomes["accepted"] == str(len(tables["Versions, the seed first"].rows) - 1)
    assert [row[0].split()[0] for row in tables["Test users"].rows][:2] == ["seed", "best"]
    assert plain(tables["Run mine"]).splitlines()[2].startswith("folder ")


def test_a_rollback_is_told_and_so_is_a_run_that_goes_on(run):
    roll_back(read_run(run), read_run(run).seed)
    said = dict(overview(read_run(run))[0].rows)
    assert said["best policy"].startswith("awi-seed ")
    assert said["rolled back"].startswith("the run found awi-gen-002.0 ")
    assert "memory score gained" not in said
    assert said["memory score gained by what the run found"][0] in "+-"
    tested = next(one for one in overview(read_run(run)) if one.title == "Test users")
    assert [row[0].split()[0] for row in tested.rows][:2] == ["seed", "found"]
    (run / SUMMARY).unlink()
    said = dict(overview(read_run(run))[0].rows)
    lived = len(read_run(run).rollouts)
    assert lived > 0
    assert said["state"] == "unfinished"
    assert said["budget"] == f"{lived} rollouts and 0 replays so far, of 39"


def test_what_was_paid(run):
    summary = json.loads((run / SUMMARY).read_text())
    for dollars, shown in ((0.25, "$0.50"), (None, "unpriced")):
        spend = {
            role: {"calls": 1, "prompt_tokens": 9, "completion_tokens": 9, "dollars": paid}
            for role, paid in (("reply", 0.25), ("answer", dollars))
        }
        (run / SUMMARY).write_text(json.dumps(summary | {"paid": spend}))
        assert dict(overview(read_run(run))[0].rows)["paid"] == shown


def test_a_run_as_json(run):
    record = read_run(run)
    told = json.loads(to_json(record))
    assert told["summary"] == record.summary
    assert [one["id"] for one in told["versions"]] == [one.id for one in record.versions]
    assert told["candidates"][0]["stage"] == "installed"
    assert told["environment_found"]


def test_policies_of_users(lives):
    tables = {table.title: table for table in overview(read_run(lives))}
    own = tables["Policies that users' lives ended with"]
    assert len(own.rows) == 3
    assert dict(tables["Run own"].rows)["best policy"] == "one for each user"
    assert len(json.loads(to_json(read_run(lives)))["own"]) == 3
