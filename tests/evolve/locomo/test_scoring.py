from __future__ import annotations

import pytest

from evolve.gym.rollout import World, live
from evolve.locomo.reading import dialogues_of
from evolve.locomo.scoring import score_rollout
from evolve.locomo.users import users_of
from feedback.records import Stage
from policies.policy import seed_policy
from tests.evolve.locomo.test_users import Says


def scored(content, policy, lm):
    (dialogue,) = dialogues_of(content[:1], "f")
    (user,) = users_of([dialogue])
    return score_rollout(live(policy, user, World(lm, lm, 0)), dialogue, user.questions)


def test_stages_follow_the_evidence(content):
    small = {"local_window": 0, "write_every": 2, "top_k": 1, "max_memory_tokens": 2000}
    policy = seed_policy("rag").derive(settings=small)
    found = scored(content, policy, Says("a kayak"))
    assert [one.category for one in found] == [1, 2, 3, 4, 5, 4]
    assert found[0].stage is Stage.RIGHT
    assert found[0].f1 == pytest.approx(0.5)  # one part of two
    assert found[0].kept == 1
    assert [one.stage for one in found[1:]] == [
        Stage.UTILIZATION, Stage.READ, Stage.READ, Stage.UTILIZATION, None,
    ]  # fmt: skip
    assert found[3].shown < 1
    assert (found[5].kept, found[5].shown) == (None, None)


def test_evidence_that_left_memory_is_a_write_failure(content):
    for turn in content[0]["conversation"]["session_2"]:
        turn["text"] += " and so on" * 60
    tight = {"local_window": 0, "write_every": 2, "max_memory_tokens": 200}
    found = scored(content, seed_policy("rag").derive(settings=tight), Says("nonsense"))
    assert found[1].stage is Stage.WRITE
    assert found[1].kept == 0


def test_a_history_is_memory_and_shown(content):
    found = scored(content, seed_policy("native"), Says("nonsense"))
    assert {(one.kept, one.shown) for one in found[:5]} == {(1, 1)}
    assert {one.stage for one in found[:5]} == {Stage.UTILIZATION}


def test_nothing_is_in_no_memory_and_what_cannot_be_read_scores_nothing(content):
    class Mute(Says):
        def complete(self, request):
            return super().complete(request).__class__("", 1, 1)

    found = scored(content, seed_policy("none"), Mute(""))
    assert {one.stage for one in found} == {Stage.FORMAT}
    assert {one.f1 for one in found} == {0}
    assert {one.kept for one in found[:5]} == {0}


def test_a_refusal_scores_where_nothing_was_said(content):
    found = scored(content, seed_policy("none"), Says("It is not mentioned"))
    assert [one.f1 for one in found][4] == 1
    assert found[4].stage is Stage.RIGHT
