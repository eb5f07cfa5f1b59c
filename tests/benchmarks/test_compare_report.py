"""Tables and claims of a comparison: what fails, what cannot be judged, and plots of the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.compare_plots import curves, tokens
from benchmarks.compare_report import Plan, report
from benchmarks.compare_run import Ran
from benchmarks.compare_verdict import Compared, looks_of
from benchmarks.report import Claim
from tests.benchmarks.compare_cases import found, ran

DRAWS = 6
PLAN = Plan(("a",), ("joint", "sequential", "random"), 400, DRAWS, judging=1)


def near(score: float) -> list[Ran]:
    return [ran(score + 0.01 * (draw % 3 - 1)) for draw in range(DRAWS)]


def of(joint: list[Ran], sequential: list[Ran], random: list[Ran]) -> Compared:
    named = {"joint": joint, "sequential": sequential, "random": random}
    runs = {("a", name): dict(enumerate(of_one)) for name, of_one in named.items()}
    return Compared(runs, looks_of(DRAWS))


def claims(compared: Compared, plan: Plan = PLAN) -> dict[str, Claim]:
    made = report(compared, plan).claims
    starts = ("joint above seed", "joint above random", "joint not below", "joint reaches")
    starts = (*starts, "shrinkage", "no run")
    return {start: claim for claim in made for start in starts if start in claim.text}


def test_everything_holds_where_joint_is_the_best() -> None:
    made = claims(of(near(0.5), near(0.4), near(0.3)))
    assert {start: claim.verdict for start, claim in made.items()} == dict.fromkeys(made, "holds")
    assert len(made) == 6
    assert "after 100 rollouts" in made["joint reaches"].text


def test_what_joint_is_worse_at_fails() -> None:
    late = [replace(ran(0.4, at=300.0), spent=401.0) for _ in range(DRAWS)]
    made = claims(of(late, near(0.42), near(0.6)))
    verdicts = {start: claim.verdict for start, claim in made.items()}
    assert verdicts.pop("joint above seed") == "holds"
    assert verdicts.pop("shrinkage") == "holds"
    assert set(verdicts.values()) == {"FAILS"}


def test_gains_that_test_users_do_not_show_fail() -> None:
    joint = [replace(one, test_gain=0.02) for one in near(0.5)]
    assert claims(of(joint, near(0.4), near(0.3)))["shrinkage"].verdict == "FAILS"


def test_a_trial_claims_nothing_but_the_budget() -> None:
    made = claims(of(near(0.1), near(0.4), near(0.3)), replace(PLAN, judging=None))
    assert {claim.verdict for start, claim in made.items() if start != "no run"} == {"unjudged"}
    assert made["no run"].verdict == "holds"


def test_what_is_not_finished_is_not_judged() -> None:
    made = claims(of(near(0.5)[:1], near(0.4)[:1], []))
    assert made["joint not below"].verdict == "unjudged"
    assert made["joint above random"].verdict == "unjudged"
    assert "no draws" in made["joint above random"].text


def test_tables_show_every_strategy_with_draws() -> None:
    over = [replace(one, best=found(0.4, tokens=2500.0)) for one in near(0.4)]
    made = report(of(near(0.5), over, []), PLAN)
    scores, pairs, curve, trace = made.tables
    assert [row[:2] for row in scores.rows] == [("seed", "6"), ("joint", "6"), ("sequential", "6")]
    assert scores.rows[2][10] == "6 of 6"
    assert [row[0] for row in pairs.rows] == ["seed", "sequential"]
    assert pairs.rows[0][4] == "above"
    assert curve.rows[0] == ("joint", "0.500", "0.500", "0.500", "0.500")
    assert {len(row) for row in trace.rows} == {9}


def test_a_row_and_its_claim_are_of_the_same_look() -> None:
    compared = of(near(0.5), near(0.4), near(0.3))
    made = report(compared, PLAN)
    _, draws, difference, p, state = made.tables[1].rows[0]
    assert int(draws) < DRAWS
    said = f"joint above seed: {difference}, p {p} by Holm, {state} after {draws} draws"
    assert said in claims(compared)["joint above seed"].text


def test_a_world_without_traces_has_no_table_of_them() -> None:
    none = dict.fromkeys(found(0.4).trace, 0.0)
    runs = [
        replace(one, seed=replace(one.seed, trace=none), best=replace(one.best, trace=none))
        for one in near(0.4)
    ]
    assert len(report(of(runs, runs, []), PLAN).tables) == 3


@pytest.mark.parametrize("draw", [curves, tokens])
def test_plots_are_the_same_bytes_for_the_same_runs(draw) -> None:
    runs = of(near(0.5), near(0.4), [ran(None)])
    text = draw(runs, PLAN, "a")
    assert text == draw(runs, PLAN, "a")
    assert "joint" in text
    assert text.startswith("<?xml")
