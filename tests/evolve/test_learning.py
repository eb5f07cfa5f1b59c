"""One life with rewrites between periods: what is told, what changes, and what stays."""

import json

import pytest

from evolve.gym.rollout import live, live_revised
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.learning import LearnTask, told
from evolve.lm.models import ModelSpec
from evolve.roles import OFFLINE
from evolve.workers import WorldSpec
from policies.errors import OutsideFailureError
from policies.policy import seed_policy

SEED = seed_policy("awi")
SPEC = WorldSpec(ModelSpec(OFFLINE), ModelSpec(OFFLINE), 0, 1, 1)


@pytest.fixture(scope="module")
def user():
    one, *_ = users_of(json.loads(json.dumps(make_users(3, 1, explicitness=1.0))), "made")
    return one


@pytest.fixture(scope="module")
def life(user):
    return live(SEED, user, SPEC.build())


def test_a_life_that_is_never_changed_is_a_rollout(user, life):
    periods = []

    def same(so_far):
        periods.append(max(answer.period for answer in so_far.answers))
        return SEED

    assert live_revised(SEED, user, SPEC.build(), same) == life
    assert periods == list(range(len(user.periods) - 1))


def test_new_types_hold_for_later_writes_and_memory_stays(user, life):
    new = SEED.derive({"memory_types": "- nothing of the sort\n"})
    changed = live_revised(SEED, user, SPEC.build(), lambda so_far: new)
    first = [entry for entry in life.entries if entry.period == 0]
    assert [e.text for e in changed.entries if e.period == 0] == [e.text for e in first]
    assert {e.label for e in changed.entries if e.period > 0} <= {"nothing of the sort"}


def test_a_failure_of_the_rewriter_from_outside_fails_the_life(user):
    def fail(so_far):
        raise OutsideFailureError("timeout")

    failed = live_revised(SEED, user, SPEC.build(), fail)
    assert (failed.failure_kind, failed.failure) == ("outside", "timeout")


def test_lists_are_kept_by_period_and_rewriting_is_counted(user):
    learned = LearnTask(SPEC, ModelSpec(OFFLINE), SEED, user, "complete")()
    assert len(learned.lists) == len(user.periods)
    assert learned.lists[0] == SEED.texts["memory_types"]
    assert learned.lists[-1] != learned.lists[0]
    assert dict(learned.rollout.usage)["rewrite"].calls == len(user.periods) - 1


def test_questions_tell_what_was_asked_and_held_and_no_more(user, life):
    said = told("questions", user, life, 1)
    assert said.count("- asked: ") == len(user.questions)
    assert said.count("  remembered: ") == len(user.questions)
    assert not [word for word in ("right:", "choices:", "revealed", "###") if word in said]


def test_complete_feedback_names_answers_states_and_what_was_revealed(user, life):
    said = told("complete", user, life, 0)
    wrong = [a for a in life.answers if a.period == 0 and not a.right]
    states = {state for a in wrong for state in user.questions[a.question].required}
    headings = [line for line in said.splitlines() if line.startswith("### ")]
    assert {line[4:].split(":")[0] for line in headings} == states
    assert said.count("  right: ") == len(user.questions)
    for session in user.periods[0].sessions:
        for state, value in session.exposed.items():
            assert f"- the user revealed: {state}: {value}" in said
