"""The loop rehearsed with a stand-in: what each thing that a run pays for calls, by role.

A few rollouts of the seed, of candidates that the run's own proposer makes of it, and of the
baselines are lived with ``TypicalLM``, whose replies are as long as those of models, behind a cache
like that of a run: a request that was made before costs nothing.

Where a run may ask for a period's states in one call, both ways are rehearsed and the estimate lies
half-way: a rollout is charged less in one call, so the budget buys more of them, with all that is
written in them, and which way a run decides for is not known before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from evolve.field import Field
from evolve.gym.bounds import bound_user
from evolve.gym.rollout import Span, World, live, planned_calls, share
from evolve.gym.users import User
from evolve.lm.base import LM, Completion, Request
from evolve.lm.typical import TypicalLM
from evolve.optimize.architecture import MovingProposer, start_of
from evolve.optimize.base import Proposal, ProposalContext, RejectedRewriteError
from evolve.optimize.strategy import STRATEGIES, make_proposer
from evolve.prepare import Prepared
from evolve.probing import SAME_SHOWN
from evolve.seeding import derive
from feedback.diagnosis import diagnose
from feedback.digest import Case, Feedback, build_feedback
from feedback.records import Rollout
from policies.errors import PolicyFileError
from policies.policy import Policy, seed_policy

_SEED_USERS, _CANDIDATES, _TEST_USERS = 3, 12, 3  # whose rollouts are lived
_USUAL_GATE = 12  # gate users that a decision takes
_WHOLE = Span()


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls and tokens, as means.

    Attributes:
        calls: That are paid.
        cached: Requests that an earlier reply answers.
        prompt_tokens: Of the calls.
        completion_tokens: Of the calls.
    """

    calls: float = 0.0
    cached: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0

    def plus(self, other: Amount, times: float = 1.0) -> Amount:
        """With so many times another."""
        return Amount(
            self.calls + times * other.calls,
            self.cached + times * other.cached,
            self.prompt_tokens + times * other.prompt_tokens,
            self.completion_tokens + times * other.completion_tokens,
        )


Amounts = Mapping[str, Amount]  # by role


class CachedLM:
    """A model behind a cache of replies, counting what would be paid for, as a run's log does.

    Args:
        lm: The model that answers.
        seen: Requests that were answered before; grows.
    """

    def __init__(self, lm: LM, seen: set[int]) -> None:
        self.amounts: dict[str, Amount] = {}
        self._lm, self._seen = lm, seen

    @property
    def name(self) -> str:
        """The model's name."""
        return self._lm.name

    def complete(self, request: Request) -> Completion:
        """Answer one request and count it."""
        done = self._lm.complete(request)
        sample = request.seed if request.temperature else 0
        key = hash((request.messages, request.max_tokens, request.temperature, sample))
        one = Amount(1, 0, done.prompt_tokens, done.completion_tokens)
        if key in self._seen:
            one = Amount(cached=1)
        self._seen.add(key)
        self.amounts[request.task] = self.amounts.get(request.task, Amount()).plus(one)
        return done


@dataclass(frozen=True, slots=True)
class Units:
    """What each thing that a run pays for calls, by role.

    Attributes:
        seed: One rollout of the budget by the seed, which nobody has lived before.
        seeds: Rollouts of the budget that are the seed's, at most.
        minibatch: Rollouts that a candidate is charged before the gate.
        candidate: One rollout by a candidate, on a user that the seed was lived with.
        test_user: The final scoring of one test user, upper bounds included.
        proposal: One proposal.
    """

    seed: Amounts
    seeds: float
    minibatch: float
    candidate: Amounts
    test_user: Amounts
    proposal: Amounts


class _Lives:
    """Lives rollouts with the stand-in, behind one cache.

    Args:
        prepared: The run.
        field: Who is scored where.
        joint: Whether states are probed in one call a period where that is possible.

    Attributes:
        world: Tells how long a life is.
    """

    def __init__(self, prepared: Prepared, field: Field, *, joint: bool = False) -> None:
        self._options, self._field, self._joint = prepared.options, field, joint
        self._seen: set[int] = set()
        self.world, users = self._with(TypicalLM()), prepared.users
        self._usual = sum(planned_calls(user, self.world) for user in users) / len(users)

    def charged(self, policy: Policy, user: User) -> tuple[Rollout, Amounts]:
        """A rollout as evolution needs it, and what it calls per rollout that it is charged."""
        span = self._field.span(user)
        if self._joint and policy.architecture in SAME_SHOWN:
            span = replace(span, probes="joint")
        rollout, amounts = self.whole(policy, user, span)
        charge = float(share(user, self.world, span))
        return rollout, scaled([(amounts, 1 / charge)])

    def whole(self, policy: Policy, user: User, span: Span = _WHOLE) -> tuple[Rollout, Amounts]:
        """A rollout, and what one of the usual length calls."""
        lm = CachedLM(TypicalLM(), self._seen)
        rollout = live(policy, user, self._with(lm), span)
        return rollout, self._as_usual(user, lm)

    def bounds(self, user: User) -> Amounts:
        """What the upper bounds of a user call."""
        lm = CachedLM(TypicalLM(), self._seen)
        bound_user(user, lm, self._options.seed)
        return self._as_usual(user, lm)

    def _as_usual(self, user: User, lm: CachedLM) -> Amounts:
        times = self._usual / planned_calls(user, self.world)
        return scaled([(lm.amounts, times)])

    def _with(self, lm: LM) -> World:
        options = self._options
        return World(lm, lm, options.seed, options.first_rounds, options.later_rounds)


def rehearse(prepared: Prepared) -> Units:
    """Live what the units are measured on.

    Raises:
        ConfigError: No outcome at any split's gate could be accepted.
    """
    field = prepared.plan(prepared.smallest)[0]
    lives, block = _Lives(prepared, field), field.minibatches[0]
    users = block[:_SEED_USERS]
    of_seed = [lives.charged(prepared.seed, user) for user in users]
    feedback = _feedback(prepared, field, users, [rollout for rollout, _ in of_seed])
    candidates, proposal = _proposed(prepared, feedback)
    candidates = candidates or [prepared.seed]
    tries = [(policy, users[n % len(users)]) for n, policy in enumerate(candidates)]
    ways = [(_mean([amounts for _, amounts in of_seed]), _of(tries, lives))]
    saving = any(one in SAME_SHOWN for one in prepared.architectures)
    if saving and prepared.options.scope == "global":
        joint = _Lives(prepared, field, joint=True)
        ways.append((_of([(prepared.seed, user) for user in users], joint), _of(tries, joint)))
    seed, candidate = (_mean([way[part] for way in ways]) for part in (0, 1))
    tested = [
        _test_user(prepared.seed, candidates[-1 - n % len(candidates)], user, lives)
        for n, user in enumerate(field.test[:_TEST_USERS])
    ]
    minibatch = float(sum(share(user, lives.world, field.span(user)) for user in block))
    gate = 0 if field.holdout == "periods" else min(_USUAL_GATE, len(field.gate))
    return Units(
        seed,
        minibatch + gate,
        minibatch,
        candidate,
        _mean(tested),
        proposal,
    )


def _test_user(seed: Policy, best: Policy, user: User, lives: _Lives) -> Amounts:
    """Seed, best, native and none, and the upper bounds."""
    whole = [seed, best] if seed.architecture == "native" else [seed, best, seed_policy("native")]
    parts = [lives.whole(policy, user)[1] for policy in whole]
    parts.append(lives.whole(seed_policy("none"), user, Span(answers_only=True))[1])
    parts.append(lives.bounds(user))
    return scaled([(amounts, 1.0) for amounts in parts])


def _feedback(
    prepared: Prepared, field: Field, users: Sequence[User], rollouts: Sequence[Rollout]
) -> Feedback:
    truths = {user.id: user.truth() for user in users}
    cases = [
        Case(r, truths[r.user], tuple(field.select(diagnose(r, truths[r.user]), "train")))
        for r in rollouts
    ]
    return build_feedback(prepared.seed, cases)


def _proposed(prepared: Prepared, feedback: Feedback) -> tuple[list[Policy], Amounts]:
    """Candidates that the run's own proposer makes of the seed, and what a proposal calls."""
    seed, options = prepared.seed, prepared.options
    lm = CachedLM(TypicalLM(), set())
    propose = _asking(prepared, lm, feedback)
    candidates = []
    for number in range(_CANDIDATES):
        proposal = propose(derive(options.seed, "estimate", number))
        with suppress(PolicyFileError):
            start = start_of(proposal, seed, options.constraints)
            candidates.append(start.derive(proposal.texts, proposal.settings))
    return candidates, scaled([(lm.amounts, 1 / _CANDIDATES)])


def _asking(prepared: Prepared, lm: LM, feedback: Feedback) -> Callable[[int], Proposal]:
    """Makes the proposals of the run's strategy, each from a seed of its own."""
    seed, options = prepared.seed, prepared.options
    if STRATEGIES[options.strategy].engine == "gepa":
        from evolve.gepa_adapter import proposed

        return lambda place: Proposal("gepa", proposed(lm, seed, feedback, place))
    proposer = make_proposer(options.strategy, lm, prepared.rules(), options.seed)
    if options.architecture == "any":
        proposer = MovingProposer(proposer)
    context = ProposalContext(seed, (seed,), feedback, None, 0, constraints=options.constraints)

    def propose(place: int) -> Proposal:
        try:
            return proposer.propose(replace(context, seed=place))
        except RejectedRewriteError as error:
            return error.proposal  # nonsense may break a rule; its length is what counts

    return propose


def scaled(parts: Iterable[tuple[Amounts, float]]) -> Amounts:
    """The sum of amounts, each so many times, by role."""
    total: dict[str, Amount] = {}
    for amounts, times in parts:
        for role, amount in amounts.items():
            total[role] = total.get(role, Amount()).plus(amount, times)
    return dict(sorted(total.items()))


def _of(tries: Sequence[tuple[Policy, User]], lives: _Lives) -> Amounts:
    return _mean([lives.charged(policy, user)[1] for policy, user in tries])


def _mean(parts: Sequence[Amounts]) -> Amounts:
    return scaled([(amounts, 1 / len(parts)) for amounts in parts])
