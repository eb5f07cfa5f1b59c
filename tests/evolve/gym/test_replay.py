"""Off-policy: memory hears a recorded conversation, and nobody replies to it."""

import pytest

from evolve.gym.reference import load_interactions
from evolve.gym.rollout import World, live, replay
from evolve.gym.users import load_users
from feedback.diagnosis import diagnose
from feedback.records import ChatMessage
from policies.errors import OutsideFailureError
from policies.policy import BUILT_IN, seed_policy

ROLES = {"none": (), "native": (), "rag": (), "awe": ("write",), "awi": ("write",)}


def as_recorded(rollout, user):
    """The conversation of a rollout, by period and session."""
    return tuple(
        tuple(
            tuple(m for m in rollout.messages if m.id.startswith(f"{period}.{session}."))
            for session in range(len(lived.sessions))
        )
        for period, lived in enumerate(user.periods)
    )


@pytest.fixture(scope="module")
def published(shared_data):
    """The published user with the fewest periods, and its two recorded conversations."""
    folder = shared_data / "amemgym-v1"
    user = min(load_users(folder / "data.json"), key=lambda user: len(user.periods))
    runs = [load_interactions(folder / "runs" / run / user.id, user) for run in ("awi", "native")]
    return user, runs


@pytest.mark.parametrize("architecture", BUILT_IN)
class TestEveryArchitecture:
    def test_its_own_conversation_leaves_the_same_memory_and_answers(
        self, sample_users, offline_world, architecture
    ):
        user, policy = sample_users[0], seed_policy(architecture)
        lived = live(policy, user, offline_world())
        again = replay(policy, user, as_recorded(lived, user), offline_world())
        assert (again.messages, again.entries, again.writes) == (
            *(lived.messages, lived.entries, lived.writes),
        )
        assert again.answers == lived.answers
        assert dict(again.usage) == {r: u for r, u in lived.usage if r not in {"reply", "user"}}

    def test_published_conversations(self, published, offline_world, architecture):
        user, runs = published
        for recorded in runs:
            rollout = replay(seed_policy(architecture), user, recorded, offline_world())
            assert rollout.failure is None
            flat = [m for period in recorded for session in period for m in session]
            assert list(rollout.messages) == flat
            roles = sorted(["answer", "probe", *ROLES[architecture]])
            assert [role for role, _ in rollout.usage] == roles
            diagnoses = diagnose(rollout, user.truth())
            assert len(diagnoses) == len(user.periods) * len(user.questions) == 110
            if architecture not in {"none", "native"}:
                assert rollout.entries
                known = {message.id for message in flat}
                assert {i for entry in rollout.entries for i in entry.sources} <= known


def test_two_conversations_leave_two_memories(published, offline_world):
    user, runs = published
    policy = seed_policy("awi")
    entries = [replay(policy, user, recorded, offline_world()).entries for recorded in runs]
    assert [e.text for e in entries[0]] != [e.text for e in entries[1]]


def test_a_recording_may_end_early_and_what_it_told_is_kept(people, scripted):
    (user,) = people(1, periods=3, questions=2)
    said = ChatMessage("0.0.0.u", "user", "A, please.", (("drink", "a"),))
    session = (said, ChatMessage("0.0.0.a", "assistant", "Here."))
    lm = scripted(lambda _: "1")
    rollout = replay(seed_policy("native"), user, [[session]], World(lm, lm, 1))
    assert [(a.period, a.question) for a in rollout.answers] == [(0, 0), (0, 1)]
    assert rollout.messages == session
    assert rollout.answers[0].context.messages == ("0.0.0.u", "0.0.0.a")


def test_a_failure_is_data(people, scripted):
    def failing(request):
        raise OutsideFailureError("down")

    (user,) = people(1, periods=1)
    lm = scripted(failing)
    rollout = replay(seed_policy("none"), user, [[]], World(lm, lm, 1))
    assert (rollout.failure, rollout.failure_kind) == ("down", "outside")
