"""One life in which the assistant rewrites its list of remembered types after every period.

The published protocol of self-evolution: the feedback is on the user's own questions, at one of
three levels. ``none``: nothing is rewritten. ``questions``: what was asked, and what memory held
for it. ``complete``: also the choices, what was chosen, what was right, and what the user revealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evolve.gym.rollout import live_revised
from evolve.gym.users import User
from evolve.lm.meter import Meter, add_usage
from evolve.lm.models import ModelSpec, make_lm
from evolve.optimize.types_proposer import OPERATOR, rewrite_types
from evolve.seeding import derive
from evolve.workers import WorldSpec
from feedback.records import Answer, Rollout
from policies.errors import PolicyFileError, RejectedTextError
from policies.policy import Lineage, Policy

_TEXT = "memory_types"


@dataclass(frozen=True, slots=True)
class Learned:
    """A life, and the lists that it was lived with.

    Attributes:
        rollout: As it was lived, what rewriting spent included.
        lists: Of remembered types, one per period that began.
    """

    rollout: Rollout
    lists: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LearnTask:
    """One such life to live; once more after a failure from outside, as any other rollout.

    Attributes:
        spec: The world.
        rewriter: Rewrites the list.
        policy: Drives the assistant at first.
        user: Lives.
        level: Of the feedback.
    """

    spec: WorldSpec
    rewriter: ModelSpec
    policy: Policy
    user: User
    level: str

    def __call__(self) -> Learned:
        """Live it."""
        learned = self._live()
        return self._live() if learned.rollout.failure_kind == "outside" else learned

    def _live(self) -> Learned:
        lm, world = Meter(make_lm(self.rewriter)), self.spec.build()
        policies = [self.policy]

        def revise(life: Rollout) -> Policy:
            period, now = len(policies) - 1, policies[-1]
            said = told(self.level, self.user, life, period)
            seed = derive(world.seed, "learn", self.user.id, period)
            try:
                new = rewrite_types(lm, seed, now.texts[_TEXT], said)
                policies.append(now.derive({_TEXT: new}))
            except (RejectedTextError, PolicyFileError):  # the list stays as it is
                policies.append(now)
            return policies[-1]

        rollout = live_revised(self.policy, self.user, world, revise)
        rollout = replace(rollout, usage=add_usage(rollout.usage, lm.usage))
        return Learned(rollout, tuple(policy.texts[_TEXT] for policy in policies))


def ended_with(seed: Policy, lists: Sequence[str], run: str, environment: str) -> Policy:
    """The policy that a life ended with; the seed where its list is as it was.

    Args:
        seed: That it began with.
        lists: That it was lived with, one per period that began.
        run: Id of the run.
        environment: Digest of the environment file.
    """
    if lists[-1] == seed.texts[_TEXT]:
        return seed
    lineage = Lineage((seed.id,), len(lists) - 1, OPERATOR, None, run, environment)
    return seed.derive({_TEXT: lists[-1]}, {}, f"{seed.architecture}-own", lineage)


def told(level: str, user: User, life: Rollout, period: int) -> str:
    """What the assistant is told of a period that has ended.

    Args:
        level: ``questions`` or ``complete``.
        user: Whose questions they are.
        life: So far.
        period: The period.
    """
    entries = {entry.id: f"{entry.label}: {entry.text}".strip(": ") for entry in life.entries}
    answers = [answer for answer in life.answers if answer.period == period]
    lines: list[str] = []
    for answer in answers:
        held = "; ".join(entries[number] for number in answer.context.entries) or "nothing"
        lines += [f"- asked: {user.questions[answer.question].query}", f"  remembered: {held}"]
        if level == "complete":
            lines += _outcome(user, answer)
    if level == "complete":
        lines = [*_failing(user, answers), *lines, *_revealed(user, period)]
    return "\n".join(lines)


def _outcome(user: User, answer: Answer) -> list[str]:
    choices = [choice.answer for choice in user.questions[answer.question].choices]
    chosen = "no choice that can be read" if answer.chosen is None else choices[answer.chosen]
    return [
        f"  choices: {' | '.join(choices)}",
        f"  chosen: {chosen}",
        f"  right: {choices[answer.right_choice]}",
    ]


def _failing(user: User, answers: list[Answer]) -> list[str]:
    """A heading for every state that wrong answers depend on, the most frequent first."""
    asked: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for answer in answers:
        for state in dict.fromkeys(user.questions[answer.question].required):
            asked[state] += 1
            wrong[state] += not answer.right
    order = sorted((state for state in wrong if wrong[state]), key=lambda s: (-wrong[s], s))
    return [f"### {s}: {wrong[s]} of {asked[s]} answers wrong" for s in order]


def _revealed(user: User, period: int) -> list[str]:
    """What the user's messages of a period revealed, where the environment says so."""
    told_of: dict[str, str] = {}
    for session in user.periods[period].sessions:
        told_of |= session.exposed or {}
    return [f"- the user revealed: {state}: {value}" for state, value in told_of.items()]
