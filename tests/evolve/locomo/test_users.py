from __future__ import annotations

from evolve.gym.rollout import World, live
from evolve.lm.base import Completion
from evolve.locomo.reading import dialogues_of
from evolve.locomo.users import users_of
from feedback.diagnosis import diagnose
from feedback.records import Stage, TraceStage, message_position
from policies.policy import seed_policy


class Says:
    """Gives one answer to everything."""

    name = "says"

    def __init__(self, answer):
        self._reply = f'{{"answer": "{answer}"}}'

    def complete(self, request):
        return Completion(self._reply, 1, 1)


def test_all_questions_are_asked_at_the_end_of_a_single_period(content):
    user = users_of(dialogues_of(content, "f"))[0]
    assert (user.id, len(user.periods)) == ("one", 1)
    assert user.asked_in(0) == (0, 1, 2, 3, 4, 5)
    assert [q.match for q in user.questions] == [
        "parts", "tokens", "tokens", "tokens", "refusal", "tokens",
    ]  # fmt: skip
    assert user.periods[0].state["open-domain 2"] == "yes"
    assert user.periods[0].state["adversarial 4"] == "No information available"


def test_with_periods_a_question_is_asked_when_its_evidence_was_said(content):
    user = users_of(dialogues_of(content, "f"), periods=4)[0]
    assert len(user.periods) == 2  # one for every session at most
    assert user.asked_in(0) == (1, 3, 4)
    assert user.asked_in(1) == (0, 2, 5)
    ids = [message.id for talk in user.recorded for session in talk for message in session]
    assert sorted(ids, key=message_position) == ids
    assert {message_position(name)[:2] for name in ids} == {(0, 0), (1, 0)}


def test_evidence_turns_tell_the_answers(content):
    user = users_of(dialogues_of(content, "f"))[0]
    told = {m.id: dict(m.told) for session in user.recorded[0] for m in session}
    assert set(told["0.0.0.u"]) == {"multi-hop 0", "temporal 1"}
    assert set(told["0.1.2.u"]) == {"adversarial 4"}


def test_a_user_is_lived_by_replay_and_traced_by_the_evidence(content):
    user = users_of(dialogues_of(content, "f"))[0]
    rollout = live(seed_policy("native"), user, World(Says("a kayak"), Says("never asked"), 0))
    assert rollout.failure is None
    assert len(rollout.messages) == 6
    assert {role for role, _ in rollout.usage} == {"answer"}
    assert [answer.right for answer in rollout.answers] == [True, *[False] * 5]
    found = diagnose(rollout, user.truth())
    assert found[0].stage is Stage.RIGHT
    assert found[1].earliest is TraceStage.MISREAD
    assert found[5].earliest is TraceStage.UNSAID  # its evidence cannot be read


def test_a_refusal_is_right_where_nothing_was_said(content):
    user = users_of(dialogues_of(content, "f"))[0]
    refusing = live(seed_policy("none"), user, World(Says("No information available"), Says(""), 0))
    assert [answer.right for answer in refusing.answers] == [*[False] * 4, True, False]
