"""Recorded users: replayed wherever a rollout is asked for, and charged their questions alone."""

from dataclasses import replace

import pytest

from evolve.field import split_by_periods
from evolve.gym.bounds import bound_user
from evolve.gym.recorded import rounds_of, session_messages, users_words
from evolve.gym.rollout import Span, live, live_revised, planned_calls, recorded_of, replay, share
from evolve.lm.offline import OfflineLM
from feedback.diagnosis import diagnose
from feedback.records import ChatMessage
from policies.policy import seed_policy


@pytest.fixture(scope="module")
def recorded(sample_users, lived):
    """A sample user whose conversations are those of a rollout."""
    user = sample_users[0]
    return replace(user, recorded=recorded_of(lived["awe"][0], len(user.periods)))


def turn(role, content="x"):
    return ChatMessage("", role, content)


def test_messages_are_numbered_by_rounds():
    roles = ["assistant", "user", "assistant", "user", "user", "assistant", "assistant"]
    session = session_messages(2, 3, map(turn, roles))
    ids = [message.id.removeprefix("2.3.") for message in session]
    assert ids == ["0.a", "1.u", "1.a", "2.u", "3.u", "3.a", "4.a"]
    assert [len(messages) for messages in rounds_of(session)] == [1, 2, 1, 2, 1]
    assert users_words([(session,)]) == ["x"] * 3


def test_a_rollout_of_a_recorded_user_is_a_replay(recorded, sample_users, offline_world):
    policy = seed_policy("rag")
    rollout = live(policy, recorded, offline_world())
    assert rollout == replay(policy, sample_users[0], recorded.recorded, offline_world())
    assert {role for role, _ in rollout.usage} == {"answer", "probe"}
    part = live(policy, recorded, offline_world(), Span(periods=2))
    assert part.answers == tuple(one for one in rollout.answers if one.period < 2)
    assert live(policy, recorded, offline_world(), Span(answers_only=True)).messages == ()
    assert live_revised(policy, recorded, offline_world(), lambda _: policy) == rollout


def test_it_is_charged_its_questions_and_probes(recorded, offline_world):
    world, answers = offline_world(), len(recorded.periods) * len(recorded.questions)
    assert planned_calls(recorded, world) == 2 * answers
    assert share(recorded, world, Span(answers_only=True)) * 2 == 1


def test_a_question_is_asked_in_its_periods_alone(recorded, offline_world):
    first, *others = recorded.questions
    periods = len(recorded.periods)
    late = replace(first, periods=frozenset({0, periods - 1}))
    user = replace(recorded, questions=(late, *others))
    for probes in ("single", "joint", "both"):
        rollout = live(seed_policy("native"), user, offline_world(), Span(probes=probes))
        assert {a.period for a in rollout.answers if a.question == 0} == {0, periods - 1}
        assert len(rollout.answers) == len(others) * periods + 2
    assert planned_calls(user, offline_world()) == 2 * len(rollout.answers)
    bounds, _ = bound_user(user, OfflineLM(), 1)
    assert set(bounds) == {(user.id, a.period, a.question) for a in rollout.answers}
    unchanged = replace(
        user, periods=tuple(replace(one, updated=frozenset()) for one in user.periods)
    )
    assert len(diagnose(rollout, unchanged.truth())) == len(rollout.answers)


def test_a_split_by_time_counts_what_is_asked(recorded):
    periods = len(recorded.periods)
    gate, test = split_by_periods((recorded,)).ends[recorded.id]
    first, *others = recorded.questions
    early = replace(first, periods=frozenset(range(gate)))
    field = split_by_periods((replace(recorded, questions=(early, *others)),))
    assert field.gate_clusters == len(others)
    assert field.answers_per_cluster == test - gate
    assert 0 < gate < test < periods
