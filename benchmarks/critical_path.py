"""How many calls of a rollout must wait for each other, whatever runs side by side."""

from __future__ import annotations

from typing import cast

from evolve.agents.buffer import Buffer
from evolve.gym.rollout import World
from evolve.gym.users import User
from feedback.records import ChatMessage
from policies.policy import Policy


def critical_path(policy: Policy, user: User, world: World) -> int:
    """The longest chain of calls in which each needs the one before.

    In a round the assistant can reply once the user has spoken and what was due is written, which
    need not wait for each other; the first words of a session stand in the file and take no call.
    Batches are written one after the other, since each is shown the memory that it adds to. A
    period's questions and probes wait for its last write and for nothing else, and nothing waits
    for them: those of the last period are the last step.

    Args:
        policy: Whether and when it writes by model calls.
        user: Who lives.
        world: Rounds per session.
    """
    buffer = _writes(policy)
    steps = due = 0
    for period, lived in enumerate(user.periods):
        for session in range(len(lived.sessions)):
            for number in range(world.rounds(period)):
                steps += max(due, 1 if number else 0) + 1
                place = f"{period}.{session}.{number}"
                said = (
                    ChatMessage(f"{place}.u", "user", ""),
                    ChatMessage(f"{place}.a", "assistant", ""),
                )
                due = len(buffer.push(said)) if buffer is not None else 0
    return steps + due + 1


def _writes(policy: Policy) -> Buffer | None:
    """The buffer that says when batches are due; None where no model writes."""
    if "write_prompt" not in policy.texts:
        return None
    settings = policy.settings
    return Buffer(cast(int, settings["write_every"]), cast(int, settings["local_window"]))
