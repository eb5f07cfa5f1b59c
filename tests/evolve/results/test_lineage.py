"""The family tree of a run, and what a change removed."""

import pytest

from evolve.results.lineage import Change, accepted, change_of, family, moves, removed
from evolve.results.run_record import read_run
from feedback.records import Diagnosis, Stage


def said(question: int, stage: str, *blamed: str) -> Diagnosis:
    return Diagnosis("ann", 0, question, 4, Stage(stage), failed_states=blamed)


CHANGE = Change(
    (said(0, "write", "diet", "pet"), said(1, "write", "diet"), said(2, "right")),
    (said(0, "utilization", "diet", "pet"), said(1, "right"), said(2, "read", "pet")),
)


def test_failures_are_counted_by_state_and_stage():
    frame = removed(CHANGE)
    found = {
        (state, measure): change
        for state, measure, change in zip(
            frame["state"], frame["measure"], frame["change"], strict=True
        )
    }
    assert found == {
        ("diet", "write"): -2,
        ("diet", "utilization"): 1,
        ("pet", "write"): -1,
        ("pet", "read"): 1,
        ("pet", "utilization"): 1,
    }
    assert frame["state"].iloc[0] == "diet"
    assert set(frame["answers"]) == {3}


def test_answers_move_between_stages():
    table = moves(CHANGE)
    assert table.to_numpy().sum() == 3
    assert table.loc["write", "utilization"] == table.loc["write", "right"] == 1
    assert table.loc["right", "read"] == 1


def test_the_tree_of_a_run_begins_with_its_seed(run):
    record = read_run(run)
    frame = family(record).set_index("name")
    assert list(frame.index) == ["seed", *(one.name for one in record.candidates)]
    assert frame.loc["seed", "parents"] == ()
    assert frame.loc["gen-001.0", "parents"] == ("seed",)
    (best,) = frame.index[frame["best"]]
    assert frame.loc[best, "policy"] == record.best.id
    assert [one.name for one in accepted(record)] == [
        name for name in frame.index[frame["accepted"]] if name != "seed"
    ]


def test_what_came_to_nothing_hangs_on_what_it_was_to_change(searched):
    record = read_run(searched)
    same = [one for one in record.candidates if one.verdict.candidate == one.verdict.incumbent]
    frame = family(record).set_index("name")
    names = {record.seed.id: "seed"}
    for one in record.candidates:
        names.setdefault(one.policy.id, one.name)
    assert same
    assert [frame.loc[one.name, "parents"] for one in same] == [
        (names[one.policy.id],) for one in same
    ]


def test_a_change_is_told_on_answers_that_both_gave(run):
    record = read_run(run)
    change = change_of(record, record.seed.id, record.best.id)
    places = [
        [(d.user, d.period, d.question) for d in side] for side in (change.before, change.after)
    ]
    assert places[0] == places[1]
    assert len(places[0]) > 0
    wrong = [
        sum(d.stage is not Stage.RIGHT for d in side) for side in (change.before, change.after)
    ]
    table = moves(change)
    assert table.drop("right").to_numpy().sum() == wrong[0]
    assert table.drop("right", axis=1).to_numpy().sum() == wrong[1]


@pytest.mark.parametrize("names", [("no", "such"), ("", "")])
def test_policies_without_answers_have_no_change(run, names):
    assert change_of(read_run(run), *names) == Change((), ())
    assert removed(Change((), ())).empty
