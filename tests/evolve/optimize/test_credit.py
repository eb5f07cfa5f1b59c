"""Credit: what earns it, and what it buys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.optimize.credit import (
    FLOOR,
    Credit,
    Earned,
    credit_summary,
    mass_of,
    operator_of,
    parts_of,
)
from feedback.routing import GROUPS
from policies.policy import seed_policy

AWE = seed_policy("awe")
MASS = {"memory_types": 0.5, "answer_prompt": 0.3, "finding": 0.2, "reply_prompt": 0.0}


@pytest.mark.parametrize(
    ("operator", "parts", "name"),
    [
        ("rewrite:memory_types", ("memory_types",), "rewrite"),
        (
            "rewrite:memory_types+search:finding",
            ("memory_types", "finding"),
            "rewrite+search",
        ),
        ("merge:memory_types,reply_prompt", ("memory_types", "reply_prompt"), "merge"),
        ("search:keeping", ("keeping",), "search"),
        ("search", ("settings",), "search"),
        ("placebo:memory_types+search", ("memory_types", "settings"), "memory_types+search"),
        ("placebo:search:showing", ("showing",), "search"),
        ("seed", (), "seed"),
        ("", (), ""),
    ],
)
def test_operators_name_their_parts(operator, parts, name) -> None:
    assert parts_of(operator) == parts
    assert operator_of(operator) == name


def test_shares_follow_the_failures_above_a_floor() -> None:
    shares = Credit().shares(MASS)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["reply_prompt"] == pytest.approx(FLOOR / 4)
    assert shares["memory_types"] == pytest.approx(0.5 * (1 - FLOOR) + FLOOR / 4)


def test_all_parts_are_alike_where_nothing_failed() -> None:
    assert Credit().shares(dict.fromkeys("ab", 0.0)) == {"a": 0.5, "b": 0.5}


def test_what_paid_gets_more_and_what_did_not_less(verdict_on) -> None:
    credit, before = Credit(), Credit().shares(MASS)
    for stage, accepted in (("minibatch", False), ("gate", True)):
        part = "memory_types" if accepted else "answer_prompt"
        credit.observe(verdict_on(AWE, AWE, f"rewrite:{part}", stage=stage, accepted=accepted))
    after = credit.shares(MASS)
    assert credit.part("answer_prompt").worth == pytest.approx(1 / 3)
    assert credit.part("memory_types").worth == pytest.approx(2 / 3)
    assert after["memory_types"] > before["memory_types"]
    assert after["answer_prompt"] < before["answer_prompt"]


def test_one_that_changed_two_parts_counts_half_of_each(verdict_on) -> None:
    credit = Credit()
    credit.observe(verdict_on(AWE, AWE, "rewrite:memory_types+search:finding", stage="gate"))
    for part in ("memory_types", "finding"):
        assert credit.part(part) == Earned(proposed=0.5, scored=0.5, passed=0.5)


@pytest.mark.parametrize("stage", ["text", "duplicate", "limit", "budget"])
def test_what_was_never_scored_earns_and_costs_nothing(stage, verdict_on) -> None:
    credit = Credit()
    credit.observe(verdict_on(AWE, AWE, "rewrite:memory_types", None, stage=stage))
    assert credit.part("memory_types").worth == 0.5
    assert credit.part("memory_types").proposed == 1


@pytest.mark.parametrize(("heard", "scored"), [(-0.1, 1), (0.0, 1), (0.1, 0), (None, 0)])
def test_what_promised_nothing_off_policy_counts_as_scored(heard, scored, verdict_on) -> None:
    credit = Credit()
    verdict = verdict_on(AWE, AWE, "rewrite:memory_types", None, stage="screen")
    credit.observe(replace(verdict, heard_difference=heard))
    assert credit.part("memory_types").scored == scored


def test_mass_is_of_the_parts_that_a_policy_has(context_for) -> None:
    feedback = context_for(AWE).feedback
    mass = mass_of(AWE, feedback)
    assert list(mass) == [
        *("reply_prompt", "memory_types", "write_prompt", "answer_prompt"),
        *GROUPS,
    ]
    assert sum(mass.values()) == pytest.approx(1)
    assert list(mass_of(seed_policy("none"), feedback)) == ["reply_prompt", "answer_prompt"]


def test_the_summary_holds_failures_and_earnings(verdict_on) -> None:
    verdicts = [verdict_on(AWE, AWE, "rewrite:memory_types+search", stage="gate", accepted=True)]
    found = credit_summary(verdicts, {"memory_types": 0.75, "finding": 0.25})
    assert found["parts"]["memory_types"] == {
        "mass": 0.75,
        "share": pytest.approx(0.9 * 0.75 * 0.6 / (0.75 * 0.6 + 0.25 * 0.5) + 0.05),
        "proposed": 0.5,
        "scored": 0.5,
        "passed": 0.5,
        "accepted": 0.5,
        "worth": pytest.approx(0.6),
    }
    assert found["parts"]["settings"]["mass"] is None
    assert found["operators"]["rewrite+search"]["accepted"] == 1
    assert credit_summary([], {}) == {"parts": {}, "operators": {}}
