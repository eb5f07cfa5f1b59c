"""Policies heard off-policy: what a task does and costs, and what is kept of it."""

import pickle
from fractions import Fraction

import pytest

from evolve.codec import from_data, to_data
from evolve.gym.rollout import Span, live, recorded_of, share
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.lm.models import ModelSpec
from evolve.offpolicy import Replayed, ReplayTask, heard_share, heard_tokens, right_of
from evolve.workers import WorldSpec
from feedback.scores import tokens_per_answer
from policies.policy import seed_policy

SPEC = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 1, 1, 2)


@pytest.fixture(scope="module")
def sample_users():
    return users_of(make_users(7, 1), "sample")


@pytest.fixture(scope="module")
def parent(sample_users):
    return live(seed_policy("awe"), sample_users[0], SPEC.build())


def test_the_parent_itself_answers_as_it_did(parent, sample_users):
    user = sample_users[0]
    for periods in (3, len(user.periods)):
        recorded = recorded_of(parent, periods)
        task = ReplayTask(SPEC, seed_policy("awe"), user, recorded, parent.policy)
        rollout = pickle.loads(pickle.dumps(task))()
        assert [answer.chosen for answer in rollout.answers] == [
            answer.chosen for answer in parent.answers if answer.period < periods
        ]
        assert {role for role, _ in rollout.usage} == {"answer", "write"}
        kept = Replayed.of(rollout)
        assert kept.right == right_of(parent, periods)
        assert kept.accuracy == kept.right / (periods * len(user.questions))
        assert from_data(Replayed, to_data(kept)) == kept
        assert task.cost == heard_share(user, SPEC.build(), periods) < 1


def test_tokens_are_estimated_exactly_for_the_parent_itself(parent, sample_users):
    user = sample_users[0]
    task = ReplayTask(
        SPEC, seed_policy("awe"), user, recorded_of(parent, len(user.periods)), parent.policy
    )
    kept = Replayed.of(task())
    assert heard_tokens(kept, parent) == pytest.approx(tokens_per_answer([parent]))


def test_it_costs_the_share_of_its_answers(sample_users):
    user, world = sample_users[0], SPEC.build()
    whole = heard_share(user, world, len(user.periods))
    assert whole == share(user, world, Span(answers_only=True))
    assert Fraction(1, 4) < whole < Fraction(1, 2)


def test_one_that_failed_has_no_accuracy():
    assert Replayed(3, 4, (), failed=True).accuracy is None
    assert Replayed(0, 0, ()).accuracy is None
    assert Replayed(3, 4, ()).accuracy == 0.75
