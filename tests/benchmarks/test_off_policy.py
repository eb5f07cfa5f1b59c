"""Ranks on-policy and off-policy: recorded conversations are whole, and changes are told right."""

from __future__ import annotations

import json

import pytest

from benchmarks.off_policy import (
    agreement,
    agreement_table,
    asking,
    conversations_of,
    rank_table,
    ranks,
    replay_all,
)
from benchmarks.rollouts import live_all, pooled
from evolve.gym.rollout import live
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.lm.models import ModelSpec
from evolve.stats import Interval
from evolve.workers import HereWorkers, WorldSpec
from policies.policy import seed_policy

SPEC = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 5, 1, 2)
USERS = users_of(json.loads(json.dumps(make_users(5, 1))), "one")


def test_recorded_conversations_are_all_that_was_said_in_order() -> None:
    rollout = live(seed_policy("rag"), USERS[0], SPEC.build())
    recorded = conversations_of(rollout)
    said = tuple(m for period in recorded for session in period for m in session)
    assert said == rollout.messages
    assert [len(period) for period in recorded] == [len(p.sessions) for p in USERS[0].periods]


def test_a_policy_answers_alike_after_its_own_conversations_and_not_after_anothers() -> None:
    rag = seed_policy("rag")
    lived = pooled(live_all({"rag": rag}, USERS, SPEC, HereWorkers())["rag"])
    own, others = (
        replay_all(recorder, {"rag": rag}, USERS, SPEC, HereWorkers())["rag"]
        for recorder in (rag, asking({"rag": rag})["rag"])
    )
    assert own == lived
    assert others != lived


def scores(**means: float) -> dict[str, Interval]:
    return {name: Interval(mean, mean - 0.1, mean + 0.1, 9) for name, mean in means.items()}


def test_changes_of_rank_are_from_on_policy_to_off_policy() -> None:
    on, off = scores(a=0.1, b=0.3, c=0.2), {"x": scores(a=0.4, b=0.3, c=0.2)}
    table = rank_table("t", on, off)
    assert [(row[0], row[2], row[4], row[5]) for row in table.rows] == [
        ("b", "1", "2", "-1"),
        ("c", "2", "3", "-1"),
        ("a", "3", "1", "+2"),
    ]
    assert agreement_table("t", on, off).rows == (("x", "-0.33", "3", "a", "0.200"),)


def test_ranks_and_agreement() -> None:
    one = {"a": 3.0, "b": 2.0, "c": 2.0}
    assert ranks(one) == {"a": 1, "b": 2, "c": 3}
    assert agreement(one, one) == pytest.approx(2 / 3)  # a tie agrees with nothing
    assert agreement({"a": 1, "b": 2}, {"a": 2, "b": 1}) == -1
