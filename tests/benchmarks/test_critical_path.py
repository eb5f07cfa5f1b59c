"""The longest chain of calls, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.critical_path import critical_path
from evolve.gym.rollout import World
from evolve.gym.sample import make_users
from evolve.gym.users import User, users_of
from evolve.lm.offline import OfflineLM
from policies.policy import seed_policy

WORLD = World(OfflineLM(), OfflineLM(), seed=1, first_rounds=1, later_rounds=2)


def user(*sessions: int) -> User:
    """A user with so many sessions in each period."""
    made = users_of(make_users(7, 1), "sample")[0]
    session = made.periods[0].sessions[0]
    periods = [replace(made.periods[0], sessions=(session,) * count) for count in sessions]
    return replace(made, periods=tuple(periods))


@pytest.mark.parametrize("architecture", ["native", "rag"])
def test_without_writes_it_is_the_conversation_and_a_step_for_the_questions(
    architecture: str,
) -> None:
    policy = seed_policy(architecture)
    assert critical_path(policy, user(3), WORLD) == 3 * 1 + 1
    assert (
        critical_path(policy, user(3, 2), WORLD) == 3 * 1 + 2 * 3 + 1
    )  # the first ones beside the talk


@pytest.mark.parametrize(
    ("write_every", "local_window", "steps"),
    [
        # Two sessions of two rounds: reply; user, reply; reply; user, reply; questions.
        (8, 8, 7),  # nothing is due
        (4, 2, 7),  # due after the third round: beside the user
        (4, 4, 8),  # after the fourth: before the questions
        (2, 2, 9),  # after the second, third and fourth: only the third overlaps
        (2, 0, 9),  # after every round: before the third reply and the questions
    ],
)
def test_a_write_counts_where_no_user_speaks_meanwhile(
    write_every: int, local_window: int, steps: int
) -> None:
    policy = seed_policy("awe").derive(
        settings={"write_every": write_every, "local_window": local_window}
    )
    world = replace(WORLD, first_rounds=2)
    assert critical_path(policy, user(2), world) == steps
