"""Differences by draw, who needs more draws, and when joint has caught up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.compare_run import Ran
from benchmarks.compare_verdict import Compared, compared, going_on, looks_of, shrinkage_of
from benchmarks.compare_worlds import Draws
from tests.benchmarks.compare_cases import ran

DRAWS = range(9)


def of(runs: dict[str, list[Ran]], world: str = "a") -> Compared:
    by_draw = {(world, name): dict(enumerate(of_one)) for name, of_one in runs.items()}
    return Compared(by_draw, looks_of(9))


def test_looks_are_at_thirds_of_the_draws() -> None:
    assert looks_of(30).draws == (10, 20, 30)
    assert looks_of(1).draws == (2,)
    assert looks_of(5).draws == (5,)


def test_runs_are_paired_by_draw_up_to_the_first_that_is_missing() -> None:
    draws = Draws(5000)
    known = {
        draws.spec("a", name, draw): ran(score)
        for name, scores in {"joint": [0.5, 0.4, 0.3], "random": [0.3, None, 0.1]}.items()
        for draw, score in enumerate(scores)
        if score is not None
    }
    found = compared(known, 5000, looks_of(9))
    assert found.differences("a", "random") == pytest.approx([0.2])
    assert found.differences("a", "seed") == pytest.approx([0.3, 0.2, 0.1])
    assert found.differences("b", "random") == []


def test_an_undefined_score_ends_what_can_be_paired() -> None:
    found = of({"joint": [ran(0.5), ran(None), ran(0.5)], "random": [ran(0.4)] * 3})
    assert found.differences("a", "random") == pytest.approx([0.1])


def test_a_comparison_that_is_clear_gets_no_more_draws_and_the_others_do() -> None:
    wobble = [0.001, -0.001, 0.0]
    joint = [ran(0.5 + w) for w in wobble]
    found = of(
        {
            "joint": joint,
            "placebo": [ran(0.2)] * 3,
            "random": [ran(0.5)] * 3,
            "gepa": [ran(0.9)] * 3,
            "sequential": [ran(0.1)] * 3,
        }
    )
    names = ["joint", "sequential", "placebo", "random", "gepa"]
    goes_on = going_on(found, ["a", "transfer"], names)
    assert goes_on == {"a": ["joint", "sequential", "random"], "transfer": names}
    family = found.family(["a", "transfer"], ["seed", "placebo", "random", "gepa"])
    assert {pair: one.state for pair, one in family.items()} == {
        ("a", "seed"): "above",
        ("a", "placebo"): "above",
        ("a", "random"): "open",
        ("a", "gepa"): "below",
    }


def test_joint_catches_up_where_its_mean_curve_reaches_the_other_end() -> None:
    found = of({"joint": [ran(0.5, at=90.0)] * 2, "sequential": [ran(0.4, at=300.0)] * 2})
    spent, evolving, target = found.catches_up("a") or (None, 0.0, 0.0)
    assert (spent, evolving, target) == pytest.approx((90.0, 320.0, 0.4))
    never = of({"joint": [ran(0.3)], "sequential": [ran(0.4)]}).catches_up("a")
    assert never is not None
    assert never[0] is None
    assert of({"joint": [ran(0.3)]}).catches_up("a") is None


def test_shrinkage_is_of_all_gains_together() -> None:
    runs = [ran(0.5, gate_gain=0.1), ran(0.5, gate_gain=0.14)]
    assert shrinkage_of(runs) == pytest.approx((0.24 - 0.16) / 0.24)
    assert shrinkage_of([replace(runs[0], gate_gain=None)]) is None
    assert shrinkage_of([]) is None
