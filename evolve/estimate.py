"""What a run will call and pay, before its first call, from a rehearsal of it.

What the rehearsal called is scaled to what the plan will spend. That a provider charges less for
what its own cache serves is not counted on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evolve.connecting import Cast
from evolve.plan import Plan
from evolve.prepare import Prepared
from evolve.rehearsal import Amounts, rehearse, scaled
from policies.errors import BudgetTooSmallError, ConfigError

MARGIN = 1.2  # what a budget in dollars allows for replies longer than the stand-in's
_PER_GATED = 1.4  # proposals to one candidate that the plan sees at the gate


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will call and pay.

    Attributes:
        plan: What it is an estimate of.
        amounts: By role.
        dollars: By role; None for a role whose model is unpriced.
        final: Dollars of the final scoring alone; None if one of its models is unpriced.
    """

    plan: Plan
    amounts: Amounts
    dollars: Mapping[str, float | None]
    final: float | None

    @property
    def kept(self) -> float:
        """Dollars to keep for the final scoring; 0 where they are not known."""
        return MARGIN * (self.final or 0.0)

    @property
    def total(self) -> float | None:
        """Dollars in all; None if a model is unpriced."""
        return _sum(self.dollars)


class Estimator:
    """Estimates runs of one setup, whatever their budget.

    Args:
        prepared: The run.
    """

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._units = rehearse(prepared)

    def of(self, rollouts: int) -> Estimate:
        """The estimate for a budget in rollouts.

        Raises:
            BudgetTooSmallError: It does not buy one proposal.
            ConfigError: No outcome at any split's gate could be accepted.
        """
        plan = self._prepared.plan(rollouts)[1]
        units, cast = self._units, self._prepared.cast
        # What is left at the end is less than a minibatch: half of one, as a mean.
        evolving = float(plan.budget - plan.set_aside) - units.minibatch / 2
        seeds = min(units.seeds, evolving / 2)
        final = scaled([(units.test_user, len(plan.test))])
        amounts = scaled(
            [
                (units.seed, seeds),
                (units.candidate, evolving - seeds),
                (units.proposal, 1 + _PER_GATED * plan.candidates),
                (final, 1),
            ]
        )
        return Estimate(plan, amounts, _priced(amounts, cast), _sum(_priced(final, cast)))

    def within(self, dollars: float) -> Estimate:
        """The estimate for the most rollouts that dollars pay for, ``MARGIN`` kept.

        Raises:
            BudgetTooSmallError: They do not buy one proposal.
            ConfigError: A model is unpriced, or none costs anything.
        """
        least = self.of(self._prepared.smallest)
        needed = self._cost(least) * MARGIN
        if not needed:
            raise ConfigError(
                "A budget in dollars needs a model that costs something, but the price of all is "
                "0; give a number of rollouts."
            )
        if needed > dollars:
            raise BudgetTooSmallError(
                "A budget must buy one full proposal, judged on all gate users and reported on "
                f"test users, but ${dollars:.2f} does not; give --budget '${needed + 0.005:.2f}' "
                "or more, or a cheaper model."
            )
        best, above = least, 2 * least.plan.budget
        while (tried := self._affordable(above, dollars)) is not None:
            best, above = tried, 2 * above
        while above - best.plan.budget > 1:
            middle = (above + best.plan.budget) // 2
            tried = self._affordable(middle, dollars)
            best, above = (best, middle) if tried is None else (tried, above)
        return best

    def _affordable(self, rollouts: int, dollars: float) -> Estimate | None:
        """The estimate, or None where that is more than dollars pay for, or can be used."""
        try:
            estimate = self.of(rollouts)
        except ConfigError:  # so many candidates that none of them could pass
            return None
        return estimate if self._cost(estimate) * MARGIN <= dollars else None

    def _cost(self, estimate: Estimate) -> float:
        if estimate.total is None:
            roles = [role for role, dollars in estimate.dollars.items() if dollars is None]
            names = dict.fromkeys(self._prepared.cast.of(role).name for role in roles)
            raise ConfigError(
                f"A budget in dollars needs a price for every model, but none is known for "
                f"{', '.join(names)}; give it by --price IN,OUT, or a number of rollouts."
            )
        return estimate.total


def _priced(amounts: Amounts, cast: Cast) -> dict[str, float | None]:
    from evolve.lm.prices import dollars

    return {
        role: dollars(cast.of(role), round(a.prompt_tokens), round(a.completion_tokens))
        for role, a in amounts.items()
    }


def _sum(dollars: Mapping[str, float | None]) -> float | None:
    known = [value for value in dollars.values() if value is not None]
    return sum(known) if len(known) == len(dollars) else None
