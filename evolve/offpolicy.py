"""Policies heard off-policy: they remember what was said to another, and answer from that."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evolve.gym.recorded import Conversation
from evolve.gym.rollout import Span, World, replay, share
from evolve.gym.users import User
from evolve.workers import WorldSpec
from feedback.records import Rollout, Usage
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class ReplayTask:
    """One policy to be heard off-policy with one user; nobody speaks anew, and nothing is probed.

    Attributes:
        spec: The world.
        policy: Remembers and answers.
        user: Whose questions are asked, at the end of every period that was recorded.
        recorded: What was said, by period and session.
        speaker: Id of the policy that it was said to.
    """

    spec: WorldSpec
    policy: Policy
    user: User
    recorded: tuple[Conversation, ...]
    speaker: str

    def __call__(self) -> Rollout:
        """Hear it, once more after a failure from outside."""
        world = self.spec.build()
        rollout = replay(self.policy, self.user, self.recorded, world, probe=False)
        if rollout.failure_kind == "outside":
            rollout = replay(self.policy, self.user, self.recorded, world, probe=False)
        return rollout

    @property
    def name(self) -> str:
        """As the journal writes it."""
        return f"{self.policy.id}:{self.user.id}:{self.speaker}"

    @property
    def cost(self) -> Fraction:
        """What it is charged, in rollouts."""
        return heard_share(self.user, self.spec.build(), len(self.recorded))


def heard_share(user: User, world: World, periods: int) -> Fraction:
    """The share of a rollout's calls that hearing so many periods takes.

    Writes, whose number varies by policy, count for neither.
    """
    return share(user, world, Span(periods=periods, answers_only=True))


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the journal keeps of it.

    Attributes:
        right: Answers that were right.
        answers: All of them.
        usage: What it called, by role.
        failed: Whether it could not be heard to the end.
    """

    right: int
    answers: int
    usage: tuple[tuple[str, Usage], ...]
    failed: bool = False

    @classmethod
    def of(cls, rollout: Rollout) -> Replayed:
        """What is kept of a rollout."""
        failed = rollout.failure is not None
        return cls(right_of(rollout), len(rollout.answers), rollout.usage, failed)

    @property
    def accuracy(self) -> float | None:
        """Share of right answers, 0 to 1; None where it failed."""
        return None if self.failed or not self.answers else self.right / self.answers


def right_of(rollout: Rollout, periods: int | None = None) -> int:
    """Right answers of the first so many periods; of all where None."""
    asked = (one for one in rollout.answers if periods is None or one.period < periods)
    return sum(answer.chosen == answer.right_choice for answer in asked)


def heard_tokens(heard: Replayed, lived: Rollout) -> float:
    """An estimate of tokens per answer of who was heard, from those of whom it was said to.

    Nobody replies where what was said is only heard: replies show the same memories as answers do,
    so they are taken to grow as those do.

    Args:
        heard: Not failed.
        lived: The rollout whose words were heard.
    """
    ours, theirs = (
        {role: (usage.prompt_tokens + usage.completion_tokens) for role, usage in one.usage}
        for one in (heard, lived)
    )
    mine, other = ours.get("answer", 0) / heard.answers, theirs["answer"] / len(lived.answers)
    replies = theirs.get("reply", 0) / len(lived.answers) * mine / other
    return ours.get("write", 0) / heard.answers + mine + replies
