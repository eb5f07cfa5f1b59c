"""What a budget buys: what is set aside for the end, and how many candidates the rest serves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evolve.field import MINIBATCH, Field
from evolve.gym.rollout import Span, World, share
from evolve.gym.users import User
from evolve.optimize.gate import candidate_level, could_pass
from policies.errors import BudgetTooSmallError

FEWEST_TEST_USERS = 4
_LARGEST_SET_ASIDE = Fraction(1, 3)
_USUAL_GATE = 8  # gate users of a usual decision: many candidates never reach the gate


@dataclass(frozen=True, slots=True)
class Plan:
    """How a budget is spent.

    Attributes:
        budget: Rollouts in all.
        set_aside: For scoring test users at the end.
        test: The test users that this pays for, in their seeded order.
        candidates: How many candidates may reach the gate; the run's level is divided by it.
    """

    budget: int
    set_aside: Fraction
    test: tuple[User, ...]
    candidates: int

    def describe(self, field: Field) -> str:
        """One sentence for the start of a run."""
        return (
            f"{self.budget} rollouts buy about {self.candidates} candidates "
            f"({len(field.minibatch(0))} users each on the minibatch, up to {len(field.gate)} at "
            f"the gate); {float(self.set_aside):.1f} are set aside for {len(self.test)} test users."
        )


def make_plan(budget: int, field: Field, world: World, native: bool) -> Plan:
    """Divide a budget.

    Args:
        budget: Rollouts.
        field: Who is scored where.
        world: For the shares of partial rollouts.
        native: Whether the seed's architecture is native, which then needs no baseline of its own.

    Raises:
        BudgetTooSmallError: It does not buy one full proposal; names the smallest that does.
    """
    plan = _divide(budget, field, world, native)
    if plan is None:
        needed = budget + 1
        while _divide(needed, field, world, native) is None:
            needed += 1
        raise BudgetTooSmallError(
            "A budget must buy one full proposal, judged on all gate users and reported on test "
            f"users, but {budget} rollouts do not; give --budget {needed} or more."
        )
    return plan


def gate_can_pass(field: Field, budget: int) -> bool:
    """Whether any outcome on the gate's clusters could be accepted at this budget's level."""
    candidates = max(1, budget // (MINIBATCH + _USUAL_GATE))
    level = candidate_level(candidates)
    return could_pass(field.gate_clusters, level, field.answers_per_cluster, field.look_every)


def _divide(budget: int, field: Field, world: World, native: bool) -> Plan | None:
    def test_cost(user: User) -> Fraction:
        # Seed, best and native in full, none by its answers alone.
        alone = share(user, world, Span(answers_only=True))
        return (2 if native else 3) + alone

    test, set_aside = _affordable(field.test, test_cost, budget * _LARGEST_SET_ASIDE)
    if len(test) < min(FEWEST_TEST_USERS, len(field.test)):
        return None
    left = budget - set_aside
    minibatch = _cost(field.minibatches[0], field, world)
    whole_gate = _cost(field.gate, field, world) if field.holdout == "users" else Fraction(0)
    if left < 2 * (minibatch + whole_gate):
        return None
    usual_gate = min(whole_gate, _cost(field.gate[:_USUAL_GATE], field, world))
    per_candidate = minibatch + (usual_gate if field.holdout == "users" else 0)
    return Plan(budget, set_aside, test, max(1, int(left / per_candidate) - 1))


def _affordable(
    users: Sequence[User], cost: Callable[[User], Fraction], limit: Fraction
) -> tuple[tuple[User, ...], Fraction]:
    """The first users whose cost together stays within a limit, and that cost."""
    total, count = Fraction(0), 0
    for user in users:
        if total + cost(user) > limit:
            break
        total += cost(user)
        count += 1
    return tuple(users[:count]), total


def _cost(users: Sequence[User], field: Field, world: World) -> Fraction:
    return sum((share(user, world, field.span(user)) for user in users), start=Fraction(0))
