"""Rollouts with the offline model: what memory held and showed, and what is said of the answers."""

from math import isclose

import pytest

from evolve.gym.rollout import live
from evolve.lm.base import count_tokens
from feedback.diagnosis import diagnose
from feedback.records import Stage
from feedback.scores import score, scores_by_period, scores_by_user
from feedback.trace import index_rollout
from policies.policy import BUILT_IN, seed_policy

WRITERS = ("awe", "awi")


class TestMemory:
    @pytest.mark.parametrize("architecture", BUILT_IN)
    def test_contexts_show_what_was_in_memory_then(self, lived, architecture):
        for rollout in lived[architecture]:
            index = index_rollout(rollout)
            places = {message.id: place for place, message in enumerate(rollout.messages)}
            for answer in rollout.answers:
                now = {e.id for e in rollout.entries if index.live(e, answer.period)}
                said = [i for i in places if int(i.split(".")[0]) <= answer.period]
                for context in (answer.context, answer.probe_context):
                    assert set(context.entries) <= now
                    newest = said[len(said) - len(context.messages) :]
                    assert list(context.messages) == newest
                if architecture == "awi":
                    assert set(answer.context.entries) == now

    @pytest.mark.parametrize("architecture", BUILT_IN)
    def test_memory_tokens_are_those_of_live_entries(self, lived, sample_users, architecture):
        for user, rollout in zip(sample_users, lived[architecture], strict=True):
            index = index_rollout(rollout)
            assert rollout.memory_tokens == tuple(
                sum(
                    count_tokens(f"{e.label}: {e.text}")
                    for e in rollout.entries
                    if index.live(e, period)
                )
                for period in range(len(user.periods))
            )

    def test_what_the_assistant_asks_changes_what_it_learns(self, sample_users, offline_world):
        """On-policy: the same write policy, with and without a question in its reply prompt."""
        silent = seed_policy("awe").derive(settings={"write_every": 2})
        told, memories = [], []
        for user in sample_users:
            names = [state.replace("_", " ") for state in sorted(user.schema)]
            prompt = silent.texts["reply_prompt"].partition("\n\n")
            sentence = f"Ask the user about their {', '.join(names)}."
            asking = silent.derive(texts={"reply_prompt": f"{sentence}\n" + "".join(prompt)})
            assert {k: v for k, v in asking.texts.items() if k != "reply_prompt"} == {
                k: v for k, v in silent.texts.items() if k != "reply_prompt"
            }
            for policy in (silent, asking):
                rollout = live(policy, user, offline_world())
                follow_ups = [m for m in rollout.messages if m.id[-3:] == "1.u"]
                told.append(sum(len(m.told) for m in follow_ups))
                memories.append([e.text for e in rollout.entries])
        assert told[::2] == [0] * len(sample_users)
        assert all(count >= 5 for count in told[1::2])
        assert all(a != b for a, b in zip(memories[::2], memories[1::2], strict=True))


class TestOffline:
    @pytest.mark.parametrize("architecture", BUILT_IN)
    def test_the_stages_add_up_to_one(self, lived, sample_users, architecture):
        diagnoses = [
            diagnosis
            for user, rollout in zip(sample_users, lived[architecture], strict=True)
            for diagnosis in diagnose(rollout, user.truth())
        ]
        assert len(diagnoses) == sum(len(u.periods) * len(u.questions) for u in sample_users)
        groups = [score(diagnoses)]
        groups += [*scores_by_period(diagnoses).values(), *scores_by_user(diagnoses).values()]
        assert len(groups) == 1 + len(sample_users[0].periods) + len(sample_users)
        for s in groups:
            assert isclose(s.accuracy + s.write + s.read + s.utilization + s.format, 1)
        if architecture != "none":
            assert {d.stage for d in diagnoses} >= {Stage.RIGHT, Stage.WRITE, Stage.READ}

    @pytest.mark.parametrize("architecture", BUILT_IN)
    def test_the_same_life_is_lived_again(self, lived, sample_users, offline_world, architecture):
        again = live(seed_policy(architecture), sample_users[0], offline_world())
        assert again == lived[architecture][0]
        assert again.failure is None
        other = live(seed_policy(architecture), sample_users[0], offline_world(2))
        assert other.answers != again.answers

    @pytest.mark.parametrize("architecture", BUILT_IN)
    def test_roles_are_counted_apart(self, lived, architecture):
        roles = [role for role, _ in lived[architecture][0].usage]
        writes = ["write"] if architecture in WRITERS else []
        assert roles == sorted(["answer", "probe", "reply", "user", *writes])
