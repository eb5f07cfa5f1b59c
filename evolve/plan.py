"""What a budget buys: what is set aside for the end, and how many candidates the rest serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil

from evolve.field import Field
from evolve.gym.rollout import Span, World, share
from evolve.gym.users import User
from evolve.optimize.gate import candidate_level, could_pass
from policies.errors import BudgetTooSmallError, ConfigError

FEWEST_TEST_USERS = 4
_LARGEST_SET_ASIDE = Fraction(1, 3)
_USUAL_GATE = 12  # gate users of a usual decision
_USUAL_INCUMBENT = 6  # of them, those that the incumbent was not yet judged on
_PASSING = Fraction(2, 5)  # of the candidates that are scored get beyond the minibatch


@dataclass(frozen=True, slots=True)
class Plan:
    """How a budget is spent.

    Attributes:
        budget: Rollouts in all.
        set_aside: For scoring test users at the end.
        test: The test users that this pays for, in their seeded order.
        candidates: How many candidates may reach the gate; the run's level is divided by it.
        candidate: Rollouts that one of them takes as a rule, those before it that do not get there
            included.
    """

    budget: int
    set_aside: Fraction
    test: tuple[User, ...]
    candidates: int
    candidate: Fraction

    def describe(self, field: Field) -> str:
        """One sentence for the start of a run."""
        minibatch = _people(len(field.minibatch(0)), "train user")
        kept = f"{float(self.set_aside):.1f} are kept for"
        if field.holdout == "users":
            gate = f"up to {_people(len(field.gate), 'gate user')}"
            end = f"{kept} {_people(len(self.test), 'test user')}"
        else:
            minibatch = _people(len(field.minibatch(0)), "user")
            gate, end = "by their later periods", f"{kept} the last periods"
        return (
            f"{self.budget} rollouts buy about {_people(self.candidates, 'candidate')} at the gate "
            f"(scored on {minibatch} first, then {gate}) and more that fail before it; {end}"
        )


def make_plan(
    budget: int, fields: Sequence[Field], world: World, *, native: bool, measured: int = 0
) -> tuple[Field, Plan]:
    """Choose a split and divide the budget: the first split at whose gate something could pass.

    Both are settled together, as the gate's level depends on how many candidates the budget buys.

    Args:
        budget: Rollouts.
        fields: Splits, the preferred one first.
        world: For the shares of partial rollouts.
        native: Whether the seed's architecture is native, which then needs no baseline of its own.
        measured: Rollouts that may be probed both ways before a proposal is judged.

    Raises:
        BudgetTooSmallError: It does not buy one full proposal; names the smallest that does.
        ConfigError: No outcome at any split's gate could be accepted.
    """
    costs = [_costs(field, world, native, measured) for field in fields]
    found = _first_use(budget, fields, costs)
    if found is not None:
        return found
    needed = _smallest(fields, costs, budget)
    raise BudgetTooSmallError(
        "A budget must buy one full proposal, judged on all gate users and reported on test "
        f"users, but {budget} rollouts do not; give --budget {needed} or more."
    )


def smallest_budget(
    fields: Sequence[Field], world: World, *, native: bool, measured: int = 0
) -> int:
    """The fewest rollouts that buy one full proposal, under any of the splits.

    Args:
        fields: As of ``make_plan``, like the others.
        world: For the shares of partial rollouts.
        native: Whether the seed's architecture is native.
        measured: Rollouts that may be probed both ways.

    Raises:
        ConfigError: No outcome at any split's gate could be accepted.
    """
    return _smallest(fields, [_costs(field, world, native, measured) for field in fields], 0)


def _smallest(fields: Sequence[Field], costs: Sequence[_Costs], above: int) -> int:
    """The same; budgets up to one that buys too many candidates for any to pass are left out."""
    for needed in sorted(one.smallest for one in costs):
        if needed > above and _first_use(needed, fields, costs) is not None:
            return needed
    clusters = " or ".join(str(field.gate_clusters) for field in fields)
    raise ConfigError(
        "A candidate is judged on users, or questions of users, that it did not learn from, but of "
        f"this environment's {clusters} no outcome could pass; use more users"
        f"{'' if len(fields) > 1 else ', or --holdout auto'}."
    )


def _first_use(
    budget: int, fields: Sequence[Field], costs: Sequence[_Costs]
) -> tuple[Field, Plan] | None:
    """The first split at whose gate something could pass, and its plan if the budget buys one."""
    for field, cost in zip(fields, costs, strict=True):
        plan = _divide(budget, field, cost)
        # A budget that buys no proposal there is asked to grow, not spent on a weaker split.
        candidates = 1 if plan is None else plan.candidates
        if _can_pass(field, candidates):
            return None if plan is None else (field, plan)
    return None


def _can_pass(field: Field, candidates: int) -> bool:
    """Whether any outcome on the gate's clusters could be accepted."""
    level = candidate_level(candidates)
    return could_pass(field.gate_clusters, level, field.answers_per_cluster, field.look_every)


@dataclass(frozen=True, slots=True)
class _Costs:
    """What the parts of a run cost under one split, in rollouts.

    Attributes:
        test: Of each test user, in order.
        proposal: One candidate and its parent on the minibatch and the whole gate, and what the
            rollouts among them that are probed both ways cost more.
        candidate: One that reaches the gate: a usual number of users there, and the minibatches of
            those that do not get so far.
    """

    test: tuple[Fraction, ...]
    proposal: Fraction
    candidate: Fraction

    @property
    def smallest(self) -> int:
        """The smallest budget that buys a proposal and its report on the fewest test users."""
        report = sum(self.test[:FEWEST_TEST_USERS], start=Fraction(0))
        return ceil(max(report / _LARGEST_SET_ASIDE, report + self.proposal))


def _costs(field: Field, world: World, native: bool, measured: int) -> _Costs:
    # Seed, best and native in full, none by its answers alone.
    full = 2 if native else 3
    test = tuple(full + share(user, world, Span(answers_only=True)) for user in field.test)
    minibatch = _cost(field.minibatches[0], field, world)
    more = measured * max(_more(user, field, world) for user in (*field.train, *field.gate))
    if field.holdout == "periods":  # the minibatch's rollouts reach over the gate's periods
        return _Costs(test, 2 * minibatch + more, minibatch / _PASSING)
    gate = _cost(field.gate, field, world)
    usual = _cost(field.gate[:_USUAL_GATE], field, world)
    usual += _cost(field.gate[:_USUAL_INCUMBENT], field, world)
    return _Costs(test, 2 * (minibatch + gate) + more, minibatch / _PASSING + usual)


def _divide(budget: int, field: Field, costs: _Costs) -> Plan | None:
    if budget < costs.smallest:
        return None
    # As many test users as a third pays for, as long as one proposal is paid, too.
    limit = min(budget * _LARGEST_SET_ASIDE, budget - costs.proposal)
    totals = [total for total in accumulate(costs.test) if total <= limit]
    candidates = max(1, int((budget - totals[-1]) / costs.candidate))
    return Plan(budget, totals[-1], field.test[: len(totals)], candidates, costs.candidate)


def _people(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _more(user: User, field: Field, world: World) -> Fraction:
    """What a rollout costs more that is probed both ways."""
    span = field.span(user)
    return share(user, world, replace(span, probes="both")) - share(user, world, span)


def _cost(users: Sequence[User], field: Field, world: World) -> Fraction:
    return sum((share(user, world, field.span(user)) for user in users), start=Fraction(0))
