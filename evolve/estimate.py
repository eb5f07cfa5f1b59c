"""What a run will call and pay, before its first call, from a rehearsal of it.

What the rehearsal called is scaled to what the plan will spend. That a provider charges less for
what its own cache serves is not counted on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from evolve.connecting import Cast
from evolve.means import Means
from evolve.plan import Plan
from evolve.prepare import Prepared
from evolve.rehearsal import Amount, Amounts, rehearse, scaled
from evolve.roles import OFFLINE
from evolve.units import METERED, quoted, write_unit
from policies.errors import BudgetTooSmallError, ConfigError

MARGIN = 1.2  # what a budget allows for replies longer than the stand-in's, and for calls retried
_PER_GATED = 2.4  # proposals to one candidate that the plan sees at the gate
# How fast a run is cannot be known before its first call. This is assumed, and said.
CALL_SECONDS, AT_ONCE = 1.0, 8  # of a real model; calls in flight as a mean, if so many may be
_OFFLINE_SECONDS = 0.001  # of a call of the offline model


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will call and pay.

    Attributes:
        plan: What it is an estimate of.
        amounts: By role.
        dollars: By role; None for a role whose model is unpriced.
        needs: By unit, of models that are called: calls, tokens, dollars (None if a model is
            unpriced), minutes by what is assumed of their speed.
        kept: Calls, tokens and dollars to keep for the final scoring; 0 dollars where they are not
            known.
    """

    plan: Plan
    amounts: Amounts
    dollars: Mapping[str, float | None]
    needs: Mapping[str, float | None]
    kept: Mapping[str, float]

    @property
    def total(self) -> float | None:
        """Dollars in all; None if a model is unpriced."""
        return self.needs["dollars"]


class Estimator:
    """Estimates runs of one setup, whatever their budget.

    Args:
        prepared: The run.
        means: What it works with, for its speed.
    """

    def __init__(self, prepared: Prepared, means: Means) -> None:
        self._prepared = prepared
        self._means = means
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
        kept = self._needs(final)
        return Estimate(
            plan,
            amounts,
            _priced(amounts, cast),
            self._needs(amounts),
            {unit: MARGIN * (kept[unit] or 0.0) for unit in METERED},
        )

    def of_users(self, users: int) -> Estimate:
        """The estimate for a run of scope ``user`` that serves so many users.

        Raises:
            ConfigError: No outcome at any split's gate could be accepted.
        """
        units, prepared = self._units, self._prepared
        learning = prepared.options.feedback != "none"
        periods = sum(len(user.periods) for user in prepared.users) / len(prepared.users)
        bounds = {role: a for role, a in units.test_user.items() if role == "bound"}
        amounts = scaled(
            [
                (units.seed, users),
                (units.candidate, users * learning),
                (units.proposal, users * (periods - 1) * learning),
                (bounds, users),
            ]
        )
        plan = Plan((1 + learning) * users, Fraction(0), (), 0, Fraction(0))
        return Estimate(plan, amounts, _priced(amounts, prepared.cast), self._needs(amounts), {})

    def within(self, budget: Mapping[str, float]) -> Estimate:
        """The estimate for the most rollouts that every unit of a budget pays for.

        ``MARGIN`` is kept of all but rollouts. Minutes limit the rollouts only where nothing else
        does, and never to less than one proposal, as the speed of calls is but assumed.

        Args:
            budget: By unit.

        Raises:
            BudgetTooSmallError: They do not buy one proposal.
            ConfigError: A model is unpriced, or none costs anything.
        """
        units = dict(budget)
        if len(units) > 1:
            units.pop("minutes", None)
        least = self.of(self._prepared.smallest)
        if "rollouts" in budget:
            given = self.of(int(budget["rollouts"]))
            if self._fits(given, units):
                return given
        for unit in METERED:
            self._check(least, unit, units)
        return self._most(least, units)

    def _most(self, least: Estimate, units: Mapping[str, float]) -> Estimate:
        best, above = least, 2 * least.plan.budget
        while (tried := self._affordable(above, units)) is not None:
            best, above = tried, 2 * above
        while above - best.plan.budget > 1:
            middle = (above + best.plan.budget) // 2
            tried = self._affordable(middle, units)
            best, above = (best, middle) if tried is None else (tried, above)
        return best

    def _check(self, least: Estimate, unit: str, units: Mapping[str, float]) -> None:
        """Refuse a unit that does not buy the smallest plan."""
        if unit not in units:
            return
        needed = MARGIN * self._need(least, unit)
        if not needed:
            raise ConfigError(
                "A budget in dollars needs a model that costs something, but the price of all is "
                "0; give a number of rollouts."
            )
        if needed > units[unit]:
            enough = round(needed + 0.005, 2) if unit == "dollars" else int(needed) + 1
            raise BudgetTooSmallError(
                "A budget must buy one full proposal, judged on all gate users and reported on "
                f"test users, but {write_unit(unit, units[unit])} does not; give --budget "
                f"{quoted(write_unit(unit, enough))} or more, which is the estimate and a "
                f"fifth for longer replies{', or a cheaper model' * (unit == 'dollars')}."
            )

    def _affordable(self, rollouts: int, units: Mapping[str, float]) -> Estimate | None:
        """The estimate, or None where that is more than is paid for, or can be used."""
        try:
            estimate = self.of(rollouts)
        except ConfigError:  # so many candidates that none of them could pass
            return None
        return estimate if self._fits(estimate, units) else None

    def _fits(self, estimate: Estimate, units: Mapping[str, float]) -> bool:
        return estimate.plan.budget <= units.get("rollouts", inf) and all(
            MARGIN * self._need(estimate, unit) <= most
            for unit, most in units.items()
            if unit != "rollouts"
        )

    def _need(self, estimate: Estimate, unit: str) -> float:
        needed = estimate.needs[unit]
        if needed is None:
            roles = [role for role, dollars in estimate.dollars.items() if dollars is None]
            names = dict.fromkeys(self._prepared.cast.of(role).name for role in roles)
            raise ConfigError(
                f"A budget in dollars needs a price for every model, but none is known for "
                f"{', '.join(names)}; give it by --price IN,OUT, or a number of rollouts."
            )
        return needed

    def _needs(self, amounts: Amounts) -> dict[str, float | None]:
        """By unit; what is played offline takes time alone."""
        cast, means = self._prepared.cast, self._means
        called, played = Amount(), Amount()
        for role, amount in amounts.items():
            if cast.of(role).name == OFFLINE:
                played = played.plus(amount)
            else:
                called = called.plus(amount)
        seconds = called.calls * CALL_SECONDS / min(AT_ONCE, means.concurrency)
        seconds += (played.calls + played.cached) * _OFFLINE_SECONDS / means.jobs
        return {
            "calls": called.calls,
            "tokens": called.prompt_tokens + called.completion_tokens,
            "dollars": _sum(_priced(amounts, cast)),
            "minutes": seconds / 60,
        }


def _priced(amounts: Amounts, cast: Cast) -> dict[str, float | None]:
    from evolve.lm.prices import dollars

    return {
        role: dollars(cast.of(role), round(a.prompt_tokens), round(a.completion_tokens))
        for role, a in amounts.items()
    }


def _sum(dollars: Mapping[str, float | None]) -> float | None:
    known = [value for value in dollars.values() if value is not None]
    return sum(known) if len(known) == len(dollars) else None
