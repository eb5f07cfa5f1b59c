"""A run folder as a record: finished and unfinished ones, and what is refused."""

import json
import os

import pytest

from evolve.event_lines import event_line
from evolve.folder import BEST, SEED
from evolve.journal import FILE, read_header
from evolve.results.run_record import diagnoses, find_run, read_run
from feedback.scores import score
from policies.errors import RunFolderError
from policies.policy import read_policy, seed_policy, write_policy


def test_a_finished_run(run):
    record = read_run(run)
    summary = json.loads((run / "summary.json").read_text())
    assert record.name == "mine"
    assert record.options["strategy"] == "self-evolution"
    assert record.models.model == "offline"
    assert record.seed == seed_policy("awi")
    assert [policy.id for policy in record.versions] == summary["versions"]
    assert len(record.versions) > 2
    assert record.best.id == read_policy(run / BEST).id
    assert record.summary == summary
    first = record.candidates[0]
    assert (first.name, first.generation) == ("gen-001.0", 1)
    assert first.verdict.accepted
    assert first.policy == record.versions[1]
    assert first.proposal["proposal"]["texts"]["memory_types"]
    assert first.policy.texts["memory_types"].strip()
    assert record.feedback[1].startswith("# ")
    assert (record.missing, record.rollbacks, record.redacted) == ((), (), False)
    assert [kind for kind, _, _ in record.events][:2] == ["run", "introduction"]


def test_answers_are_diagnosed_by_part_as_the_run_did(run):
    record = read_run(run)
    tested = diagnoses(record, record.best.id, "test")
    found = score(tested, record.bounds)
    told = record.summary["test"]["best"]
    assert (found.n, found.accuracy, found.memory) == (told["n"], told["accuracy"], told["memory"])
    assert {d.user for d in tested} <= {user.id for user in record.field.test}
    everything = diagnoses(record, record.seed.id)
    parts = [diagnoses(record, record.seed.id, part) for part in ("train", "gate", "test")]
    assert len(everything) == sum(map(len, parts))
    assert any(d.trace for d in everything)


def test_rollouts_are_parsed_when_they_are_asked_for(run):
    rollouts = read_run(run).rollouts
    place = next(iter(rollouts))
    assert rollouts[place] == rollouts[place]
    assert rollouts[place] is not rollouts[place]
    assert (rollouts[place].policy, rollouts[place].user) == place
    none = [place for place in rollouts if place[0] == seed_policy("none").id]
    assert none
    assert ("no", "such") not in rollouts


def test_a_run_that_goes_on_is_read_as_far_as_it_is(run):
    lines = (run / FILE).read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if b'"kind": "verdict"' in line)
    (run / FILE).write_bytes(b"".join(lines[: first + 1]) + lines[first + 1][:40])
    (run / "summary.json").unlink()
    before = {path: path.read_bytes() for path in run.rglob("*.*")}
    record = read_run(run)
    assert record.summary is None
    assert [one.name for one in record.candidates] == ["gen-001.0"]
    assert record.best == record.versions[-1] == record.candidates[0].policy
    assert diagnoses(record, record.seed.id, "test") == []
    assert {path: path.read_bytes() for path in run.rglob("*.*")} == before


def test_a_candidate_without_a_file_is_named_and_left_out(run):
    for path in run.glob("*/gen-001*.yaml"):
        path.unlink()
    record = read_run(run)
    assert record.missing == ("gen-001.0",)
    assert record.candidates[0].name == "gen-002.0"


def test_without_its_environment_figures_stay(run, tmp_path):
    record = read_run(changed_option(run, "env", str(tmp_path / "gone.json")))
    assert (record.users, record.field) == (None, None)
    assert record.best.id in record.policies
    with pytest.raises(RunFolderError, match="is gone or was changed since"):
        diagnoses(record, record.best.id)


def changed_option(run, name, value):
    """The run with another option in its header."""
    header = read_header(run)
    header["options"][name] = value
    _, rest = (run / FILE).read_bytes().split(b"\n", 1)
    (run / FILE).write_bytes(event_line("run", "header", header) + rest)
    return run


def test_the_seed_is_read_from_the_folder_else_from_where_it_was(run, tmp_path):
    mine = seed_policy("awi")
    write_policy(mine, tmp_path / "mine.yaml")
    changed_option(run, "policy", str(tmp_path / "mine.yaml"))
    (run / SEED).unlink()
    assert read_run(run).seed == mine
    write_policy(mine.derive(settings={"write_every": 8}), tmp_path / "mine.yaml")
    with pytest.raises(RunFolderError, match=r"began with, .* is now "):
        read_run(run)


def test_the_newest_is_the_latest(run, tmp_path, monkeypatch):
    runs = tmp_path / "runs"
    (runs / "older").mkdir()
    (runs / "older" / FILE).write_bytes((run / FILE).read_bytes())
    os.utime(runs / "older" / FILE, (1, 1))
    assert find_run("latest", runs) == find_run("mine", runs) == find_run(str(run)) == run
    monkeypatch.chdir(tmp_path)
    assert find_run("older").name == "older"


@pytest.mark.parametrize("name", ["", "no", "../runs", "no\0thing", "x" * 300])
def test_no_such_run(name, tmp_path):
    with pytest.raises(RunFolderError, match=r"journal\.jsonl|none is there"):
        find_run(name, tmp_path)


def test_there_is_no_latest_without_runs(tmp_path):
    with pytest.raises(RunFolderError, match="none is there"):
        find_run("latest", tmp_path / "runs")


def test_a_rollback_decides_which_is_best(run, append):
    seed = read_run(run).seed.id
    append(run, ("rollback", seed, {"policy": seed}))
    record = read_run(run)
    assert record.best.id == seed != record.summary["best_policy"]
    assert record.rollbacks == (seed,)


def test_who_was_heard_off_policy(run, append):
    heard = {"right": 2, "answers": 3, "usage": [["answer", {"calls": 3}]]}
    append(run, ("replay", "0123456789ab:ann: with:colons:ba9876543210", heard))
    (one,) = read_run(run).replays
    assert (one.policy, one.user, one.speaker) == (
        "0123456789ab",
        "ann: with:colons",
        "ba9876543210",
    )
    assert one.heard.accuracy == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "ended before its first line"),
        (b"nonsense\n", "was changed or damaged"),
        (None, "is not; restore"),
    ],
)
def test_what_is_no_journal_is_refused(run, content, told):
    with (run / FILE).open("ab" if content is None else "wb") as file:
        file.write(b"no event\n" if content is None else content)
    with pytest.raises(RunFolderError, match=told):
        read_run(run)


def test_a_damaged_rollout_is_told_when_it_is_asked_for(run):
    content = (run / FILE).read_bytes()
    (run / FILE).write_bytes(content.replace(b'"chosen": 1', b'"chosen": 2', 1))
    record = read_run(run)
    with pytest.raises(RunFolderError, match="was changed or damaged"):
        list(record.rollouts.values())


@pytest.mark.parametrize("content", ["[]", "{", "\xff", "{}", "[" * 200_000, "9" * 5000])
def test_a_summary_that_is_none(run, content):
    (run / "summary.json").write_text(content, encoding="latin-1")
    with pytest.raises(RunFolderError, match=r"summary\.json"):
        read_run(run)
