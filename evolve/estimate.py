"""What a run will call and pay, before its first call: the real loop lived with a stand-in.

A few rollouts of the seed, of candidates that the run's own proposer makes, and of the baselines
are lived with ``TypicalLM``, whose replies are as long as those of models. What they call is scaled
to what the plan will spend. Replies that a cache serves and prices of a provider's own prompt cache
are not counted on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from evolve.connecting import Cast
from evolve.field import Field
from evolve.gym.bounds import bound_user
from evolve.gym.rollout import Span, World, live, planned_calls, share
from evolve.gym.users import User
from evolve.lm.meter import Meter
from evolve.lm.typical import TypicalLM
from evolve.optimize.base import ProposalContext, RejectedRewriteError
from evolve.optimize.strategy import make_proposer
from evolve.plan import Plan
from evolve.prepare import Prepared
from evolve.seeding import derive
from feedback.diagnosis import diagnose
from feedback.digest import Case, Feedback, build_feedback
from feedback.records import Rollout, Usage
from policies.errors import BudgetTooSmallError, ConfigError, PolicyFileError
from policies.policy import Policy, seed_policy

MARGIN = 1.2  # what a budget in dollars allows for replies longer than the stand-in's
_SEED_USERS, _CANDIDATES, _TEST_USERS = 3, 6, 2  # rollouts that are lived
_PER_GATED = 1.4  # proposals to one candidate that the plan sees at the gate


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls and tokens, as means."""

    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0

    def plus(self, other: Amount, times: float = 1.0) -> Amount:
        """With so many times another."""
        return Amount(
            self.calls + times * other.calls,
            self.prompt_tokens + times * other.prompt_tokens,
            self.completion_tokens + times * other.completion_tokens,
        )


Amounts = Mapping[str, Amount]  # by role


@dataclass(frozen=True, slots=True)
class Units:
    """What each thing that a run pays for calls, by role.

    Attributes:
        rollout: One rollout of the budget, of the seed or a candidate.
        test_user: The final scoring of one test user, upper bounds included.
        proposal: One proposal.
    """

    rollout: Amounts
    test_user: Amounts
    proposal: Amounts


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
        self._units = _lived(prepared)

    def of(self, rollouts: int) -> Estimate:
        """The estimate for a budget in rollouts.

        Raises:
            BudgetTooSmallError: It does not buy one proposal.
            ConfigError: No outcome at any split's gate could be accepted.
        """
        plan = self._prepared.plan(rollouts)[1]
        cast = self._prepared.cast
        final = _scaled([(self._units.test_user, len(plan.test))])
        amounts = _scaled(
            [
                (self._units.rollout, float(plan.budget - plan.set_aside)),
                (self._units.test_user, len(plan.test)),
                (self._units.proposal, 1 + _PER_GATED * plan.candidates),
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


def _lived(prepared: Prepared) -> Units:
    """Live what the units are measured on."""
    field = prepared.plan(prepared.smallest)[0]
    options, lm = prepared.options, TypicalLM()
    world = World(lm, lm, options.seed, options.first_rounds, options.later_rounds)
    block = field.minibatches[0]
    of_seed = [live(prepared.seed, u, world, field.span(u)) for u in block[:_SEED_USERS]]
    candidates, proposal = _proposed(prepared, _feedback(prepared, field, block, of_seed))
    tries = [(policy, block[n % len(block)]) for n, policy in enumerate(candidates)]
    of_candidates = [live(policy, user, world, field.span(user)) for policy, user in tries]
    usual = sum(planned_calls(user, world) for user in prepared.users) / len(prepared.users)
    users = {user.id: user for user in block}
    rollouts = [
        _scaled([(_amounts(r.usage), _weight(users[r.user], field, world, usual))])
        for r in (*of_seed, *of_candidates)
    ]
    tested = [
        _test_user(prepared.seed, best, user, world)
        for best, user in zip(candidates[:_TEST_USERS] or [prepared.seed], field.test, strict=False)
    ]
    return Units(_mean(rollouts), _mean(tested), proposal)


def _weight(user: User, field: Field, world: World, usual: float) -> float:
    """From what a user's rollout calls to what the usual user's does per rollout charged."""
    return usual / planned_calls(user, world) / float(share(user, world, field.span(user)))


def _test_user(seed: Policy, best: Policy, user: User, world: World) -> Amounts:
    """Seed, best, native and none, and the upper bounds."""
    whole = [seed, best] if seed.architecture == "native" else [seed, best, seed_policy("native")]
    lived = [live(policy, user, world) for policy in whole]
    lived.append(live(seed_policy("none"), user, world, Span(answers_only=True)))
    usages = [*(rollout.usage for rollout in lived), bound_user(user, world.lm, world.seed)[1]]
    return _scaled([(_amounts(usage), 1.0) for usage in usages])


def _feedback(
    prepared: Prepared, field: Field, block: Sequence[User], rollouts: Sequence[Rollout]
) -> Feedback:
    truths = {user.id: user.truth() for user in block}
    cases = [
        Case(r, truths[r.user], tuple(field.select(diagnose(r, truths[r.user]), "train")))
        for r in rollouts
    ]
    return build_feedback(prepared.seed, cases)


def _proposed(prepared: Prepared, feedback: Feedback) -> tuple[list[Policy], Amounts]:
    """Candidates that the run's own proposer makes of the seed, and what a proposal calls."""
    seed, options = prepared.seed, prepared.options
    meter = Meter(TypicalLM())
    proposer = make_proposer(options.strategy, meter, prepared.rules(), options.seed)
    candidates = []
    for number in range(_CANDIDATES):
        place = derive(options.seed, "estimate", number)
        try:
            proposal = proposer.propose(ProposalContext(seed, (seed,), feedback, None, place))
        except RejectedRewriteError as error:
            proposal = error.proposal  # nonsense may break a rule; its length is what counts
        with suppress(PolicyFileError):
            candidates.append(seed.derive(proposal.texts, proposal.settings))
    return candidates, _scaled([(_amounts(meter.usage), 1 / _CANDIDATES)])


def _amounts(usage: Iterable[tuple[str, Usage]]) -> Amounts:
    return {role: Amount(u.calls, u.prompt_tokens, u.completion_tokens) for role, u in usage}


def _scaled(parts: Iterable[tuple[Amounts, float]]) -> Amounts:
    """The sum of amounts, each so many times."""
    total: dict[str, Amount] = {}
    for amounts, times in parts:
        for role, amount in amounts.items():
            total[role] = total.get(role, Amount()).plus(amount, times)
    return dict(sorted(total.items()))


def _mean(parts: Sequence[Amounts]) -> Amounts:
    return _scaled([(amounts, 1 / len(parts)) for amounts in parts])


def _priced(amounts: Amounts, cast: Cast) -> dict[str, float | None]:
    from evolve.lm.prices import dollars

    return {
        role: dollars(cast.of(role), round(a.prompt_tokens), round(a.completion_tokens))
        for role, a in amounts.items()
    }


def _sum(dollars: Mapping[str, float | None]) -> float | None:
    known = [value for value in dollars.values() if value is not None]
    return sum(known) if len(known) == len(dollars) else None
