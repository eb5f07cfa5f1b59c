"""Frames by period, state and generation: numbers by hand, and those that runs told."""

import shutil
from dataclasses import replace
from math import isnan

import pytest

from evolve.journal import FILE
from evolve.results.curves import (
    FAILURES,
    Cohort,
    by_generation,
    by_period,
    by_state,
    cohort_of,
    named_policies,
    shared_answers,
    version_names,
)
from evolve.results.run_record import read_run
from feedback.records import Diagnosis, Stage, UserTruth


def said(user: str, question: int, stage: str, *blamed: str, period: int = 0) -> Diagnosis:
    return Diagnosis(user, period, question, 4, Stage(stage), failed_states=blamed)


ANSWERS = (
    said("ann", 0, "right"),
    said("ann", 1, "write", "diet"),
    said("bob", 0, "read", "pet"),
    said("bob", 1, "right"),
)
TRUTH = UserTruth(
    "ann", {}, ({},), (frozenset(),), ("", ""), (), (("diet", "pet"), ("diet",)), True
)


@pytest.fixture
def cohort() -> Cohort:
    bounds = {(d.user, d.period, d.question): 1.0 for d in ANSWERS}
    return Cohort("test", {"seed": ANSWERS}, bounds, lambda d: d.user, 1)


def row(frame, **place):
    for name, value in place.items():
        frame = frame[frame[name] == value]
    (index,) = frame.index
    return frame.loc[index]


def test_measures_of_a_period_are_pooled_over_answers(cohort):
    frame = by_period(cohort)
    means = dict(zip(frame["measure"], frame["mean"], strict=True))
    assert means == {
        "memory": pytest.approx((0.5 - 0.25) / (1 - 0.25)),
        "accuracy": 0.5,
        "write": 0.25,
        "read": 0.25,
        "utilization": 0.0,
        "format": 0.0,
    }
    write = row(frame, measure="write")
    assert write["low"] < 0.25 < write["high"]
    assert (write["clusters"], write["answers"]) == (2, 4)


def test_a_single_cluster_has_no_interval_and_unknown_bounds_no_memory_score():
    frame = by_period(Cohort("gate", {"seed": ANSWERS[:2]}, {}, lambda d: d.user, 1))
    assert "memory" not in set(frame["measure"])
    assert isnan(row(frame, measure="write")["low"])


def test_a_state_is_blamed_for_its_own_failures_alone(cohort):
    frame = by_state(cohort, {"ann": TRUTH, "bob": TRUTH})
    assert row(frame, state="diet", measure="write")["mean"] == 0.25
    assert row(frame, state="diet", measure="read")["mean"] == 0.0
    pet = row(frame, state="pet", measure="read")
    assert (pet["mean"], pet["answers"]) == (0.5, 2)
    assert list(dict.fromkeys(frame["state"])) == ["pet", "diet"]


def test_policies_are_compared_on_answers_that_all_gave():
    shared = shared_answers({"seed": ANSWERS, "best": ANSWERS[1:3]})
    assert shared == {"seed": ANSWERS[1:3], "best": ANSWERS[1:3]}
    assert shared_answers({"seed": ANSWERS, "best": ()}) == {"seed": (), "best": ()}


def test_test_users_of_a_run_are_scored_as_its_summary_says(run):
    record = read_run(run)
    cohort = cohort_of(record)
    assert (cohort.part, cohort.users) == ("test", record.summary["gain"]["clusters"])
    n = record.summary["test"]["seed"]["n"]
    told = f"seed, best, native, none: {n} answers of {cohort.users} test users each"
    assert str(cohort) == told
    assert list(cohort.answers) == ["seed", "best", "native", "none"]
    frame = by_period(cohort)
    for policy in ("seed", "best", "native"):
        told = record.summary["test"][policy]
        rows = frame[frame["policy"] == policy]
        for measure in ("accuracy", *FAILURES):
            found = rows[rows["measure"] == measure]
            pooled = (found["mean"] * found["answers"]).sum() / found["answers"].sum()
            assert pooled == pytest.approx(told[measure])
        shares = rows[rows["measure"] != "memory"].groupby("period")["mean"].sum()
        assert list(shares) == pytest.approx([1.0] * len(shares))
    unprobed = frame[frame["policy"] == "none"]
    assert set(unprobed["measure"]) == {"memory", "accuracy", "format"}
    states = by_state(cohort, {user.id: user.truth() for user in record.users})
    assert set(states["policy"]) == set(cohort.answers)


def test_every_version_stands_in_its_generation(run):
    record = read_run(run)
    frame = by_generation(record)
    names = list(version_names(record).values())
    assert list(dict.fromkeys(frame["version"])) == names
    assert names[:2] == ["seed", "gen-001.0"]
    assert row(frame, version="gen-001.0", measure="write")["generation"] == 1
    assert set(frame["part"]) <= {"gate", "train"}


def test_a_run_that_has_not_scored_test_users_is_compared_on_gate_users(searched, tmp_path):
    folder = shutil.copytree(searched, tmp_path / "run")
    journal = (folder / FILE).read_bytes().splitlines(keepends=True)
    last = max(n for n, line in enumerate(journal) if b'"kind": "verdict"' in line)
    (folder / FILE).write_bytes(b"".join(journal[: last + 1]))
    (folder / "summary.json").unlink()
    cohort = cohort_of(read_run(folder))
    assert (cohort.part, list(cohort.answers)) == ("gate", ["seed", "best"])


def test_a_run_whose_environment_is_gone_has_no_answers(run):
    record = replace(read_run(run), users=None, field=None)
    assert cohort_of(record) is None
    assert by_period(None).empty
    assert by_state(None, {}).empty
    assert by_generation(record).empty


def test_lives_of_scope_user_are_compared_with_the_seed(lived):
    record = read_run(lived)
    cohort = cohort_of(record)
    assert (cohort.part, list(cohort.answers)) == ("everyone", ["seed", "learned"])
    assert not by_period(cohort).empty
    assert by_generation(record).empty


def test_a_seed_that_stays_is_named_once(run):
    record = read_run(run)
    assert list(named_policies(record)) == ["seed", "best", "native", "none"]
    assert list(named_policies(replace(record, best=record.seed))) == ["seed", "native", "none"]
