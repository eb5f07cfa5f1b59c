"""The minibatch of train users: candidates race on its first half; the hopeless go no further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evolve.evaluate import Evaluator, Job
from evolve.field import Field
from evolve.gym.users import User
from evolve.optimize.gate import no_chance
from evolve.trial import differences_of
from policies.policy import Policy

FEWEST_RACED = 4  # users of a minibatch: halves of fewer say nothing


@dataclass(frozen=True, slots=True)
class Lived:
    """How far a candidate came.

    Attributes:
        users: Of the minibatch, those that it was scored on; none where it could not be paid.
        stopped: Whether it was stopped half-way, for want of a chance.
    """

    users: tuple[User, ...] = ()
    stopped: bool = False


class Minibatch:
    """Scores candidates on minibatches.

    Args:
        evaluator: Scores and pays.
        field: Whose users.
        racing: Whether the hopeless are stopped half-way. What they would have cost is not spent.
    """

    def __init__(self, evaluator: Evaluator, field: Field, *, racing: bool = True) -> None:
        self._evaluator = evaluator
        self._field = field
        self._racing = racing and field.holdout == "users"  # else its users are too few

    def cost(self, block: Sequence[User]) -> Fraction:
        """What a new candidate is charged at most, in rollouts."""
        return self._evaluator.most_of_new(block, self._field.span)

    def score(
        self, policies: Sequence[Policy], parent: Policy, block: tuple[User, ...]
    ) -> list[Lived]:
        """Score as many of the candidates as can be paid, side by side, in their order.

        Args:
            policies: The candidates.
            parent: Scored on the minibatch already.
            block: The minibatch.
        """
        left, paid = self._evaluator.ledger.left, len(policies)
        while paid and self._evaluator.most(self._jobs(policies[:paid], block)) > left:
            paid -= 1
        found = [Lived()] * len(policies)
        half = (len(block) + 1) // 2 if self._racing and len(block) >= FEWEST_RACED else 0
        self._evaluator.score(self._jobs(policies[:paid], block[:half]))
        running = list(range(paid))
        for number in range(paid if half else 0):
            if self._hopeless(policies[number], parent, block, half):
                found[number] = Lived(block[:half], stopped=True)
                running.remove(number)
        self._evaluator.score(self._jobs([policies[number] for number in running], block[half:]))
        for number in running:
            found[number] = Lived(block)
        return found

    def _jobs(self, policies: Sequence[Policy], users: Sequence[User]) -> list[Job]:
        return [Job(policy, u, self._field.span(u)) for policy in policies for u in users]

    def _hopeless(self, policy: Policy, parent: Policy, block: Sequence[User], half: int) -> bool:
        ours, theirs = (
            self._evaluator.known(one, block[:half], self._field.span) for one in (policy, parent)
        )
        differences = differences_of(self._field, ours, theirs, "train")
        return no_chance(differences, len(block), self._field.answers_per_cluster)
