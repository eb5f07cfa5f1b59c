"""Screens a generation's candidates off-policy, as long as that predicts how they do on-policy.

Candidates answer from what the parent's users said, which costs no reply and no simulated user.
Which of two policies is better off-policy need not be the better one on-policy (AMemGym's reuse
bias), so this is never taken for granted: until enough candidates were seen both ways one of every
generation goes on unscreened, and from then on the screen must have told the order of most pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from statistics import fmean, median

from evolve.evaluate import Evaluator
from evolve.field import Field
from evolve.gym.rollout import recorded_of
from evolve.gym.users import User
from evolve.offpolicy import ReplayTask, heard_share, heard_tokens, right_of
from evolve.optimize.base import Verdict, unscored
from evolve.optimize.constraints import NO_LIMITS, Constraints
from policies.policy import Policy

PROPOSED = 6  # candidates of a generation that is screened
HEARD_BY = 3  # users of the minibatch that hear them: enough to tell the order, if not the size
CALIBRATION = 6  # candidates seen both ways before the screen is judged
TRUSTED = 0.6  # share of their pairs whose order it must have told; half is chance


@dataclass(frozen=True, slots=True)
class Heard:
    """How candidates did off-policy.

    Attributes:
        differences: Id of a candidate to its accuracy less the parent's, for those that could be
            heard: not where the prompt for replies changed, as what was said would have, too.
        tokens: The same to an estimate of its tokens per answer.
    """

    differences: Mapping[str, float]
    tokens: Mapping[str, float]

    def order(self, policies: Sequence[Policy], limits: Constraints) -> list[Policy]:
        """Those that promise something and keep the limit of tokens per answer, the best first.

        Who was not heard comes in the middle, equals in the order of proposal.
        """
        middle = median(self.differences.values()) if self.differences else 0.0
        hopeful = [
            one
            for one in policies
            if self.differences.get(one.id, 1.0) > 0
            and limits.too_dear(self.tokens.get(one.id)) is None
        ]
        return sorted(hopeful, key=lambda one: -self.differences.get(one.id, middle))


@dataclass(frozen=True, slots=True)
class ScreenSummary:
    """A run's screen in numbers.

    Attributes:
        heard: Candidates that were heard off-policy.
        rollouts: What that was charged.
        seen_both_ways: Of them, those that were scored on-policy against the same parent.
        concordance: Share of pairs of these whose order it told, 0 to 1; None without a pair.
        on: Whether a further generation would be screened.
    """

    heard: int
    rollouts: float
    seen_both_ways: int
    concordance: float | None
    on: bool


class Screen:
    """The screen of one run.

    Args:
        evaluator: Pays, and knows the parent's rollouts.
        field: Which answers count.
        limits: That a candidate must keep.
        used: Whether there is any.

    Attributes:
        heard: Number of candidates that were heard.
        spent: Rollouts that this was charged.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        field: Field,
        limits: Constraints = NO_LIMITS,
        *,
        used: bool = True,
    ) -> None:
        self.heard = 0
        self.spent = Fraction(0)
        self._evaluator = evaluator
        self._field = field
        self._used = used
        self._limits = limits
        self._off: dict[str, float] = {}
        self._tokens: dict[str, float] = {}
        self._pairs: list[tuple[float, float]] = []

    @property
    def concordance(self) -> float | None:
        """Share of pairs of candidates whose order on-policy it told, ties aside; None without."""
        pairs = combinations(self._pairs, 2)
        signs = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in pairs]
        told = [sign > 0 for sign in signs if sign]
        return sum(told) / len(told) if told else None

    @property
    def calibrated(self) -> bool:
        """Whether enough candidates were seen both ways."""
        return len(self._pairs) >= CALIBRATION

    @property
    def on(self) -> bool:
        """Whether the next generation is screened."""
        if not self._used or not self.calibrated:
            return self._used
        return (self.concordance or 0.0) >= TRUSTED

    def cost(self, block: Sequence[User]) -> Fraction:
        """What a generation's screening is charged at most, in rollouts."""
        world = self._evaluator.spec.build()
        shares = (heard_share(user, world, self._periods(user)) for user in block[:HEARD_BY])
        return PROPOSED * sum(shares, start=Fraction(0))

    def choose(
        self, policies: Sequence[Policy], parent: Policy, block: Sequence[User], room: int
    ) -> list[Policy]:
        """Which candidates go on-policy.

        Args:
            policies: The candidates, in the order of their proposal.
            parent: Scored on the minibatch.
            block: The minibatch.
            room: How many go on.
        """
        if len(policies) <= room:
            return list(policies)
        heard = self._hear(policies, parent, block[:HEARD_BY])
        ordered = heard.order(policies, self._limits)
        if self.calibrated:
            return ordered[:room]
        best = ordered[: room - 1]
        return best + [one for one in policies if one not in best][:1]

    def _hear(self, policies: Sequence[Policy], parent: Policy, block: Sequence[User]) -> Heard:
        spec, prompt = self._evaluator.spec, parent.texts["reply_prompt"]
        said = {
            one.rollout.user: one.rollout
            for one in self._evaluator.known(parent, block, self._field.span)
            if one.rollout.failure is None
        }
        tasks = [
            ReplayTask(
                spec, policy, user, recorded_of(said[user.id], self._periods(user)), parent.id
            )
            for policy in policies
            if policy.texts["reply_prompt"] == prompt
            for user in block
            if user.id in said
        ]
        gained: dict[str, list[float | None]] = {}
        tokens: dict[str, list[float]] = {}
        for task, heard in zip(tasks, self._evaluator.replay(tasks), strict=True):
            rollout, periods = said[task.user.id], self._periods(task.user)
            asked = sum(len(task.user.asked_in(period)) for period in range(periods))
            before = right_of(rollout, periods) / asked if asked else 0.0
            after = heard.accuracy
            gained.setdefault(task.policy.id, []).append(None if after is None else after - before)
            self.spent += task.cost
            if after is not None:
                estimate = heard_tokens(heard, rollout)
                tokens.setdefault(task.policy.id, []).append(estimate)
        self.heard += len(gained)
        found = Heard(
            {
                policy: fmean([one for one in differences if one is not None])
                for policy, differences in gained.items()
                if None not in differences
            },
            {policy: fmean(estimates) for policy, estimates in tokens.items()},
        )
        self._off.update(found.differences)
        self._tokens.update(found.tokens)
        return found

    def _periods(self, user: User) -> int:
        """How many periods of a user count for feedback."""
        if self._field.holdout == "periods":
            return self._field.ends[user.id][0]
        return len(user.periods)

    def verdict(self, policy: Policy, parent: Policy) -> Verdict:
        """On a candidate that was not chosen."""
        off, tokens = self._off.get(policy.id), self._tokens.get(policy.id)
        too_dear = self._limits.too_dear(tokens)
        if off is None:
            why = "cannot be heard off-policy, and others promised more"
        elif too_dear is not None:
            why = f"{off:+.4f} off-policy, but some {too_dear}"
        else:
            why = f"{off:+.4f} off-policy" + (", and others promised more" if off > 0 else "")
        found = unscored(policy, parent, "screen", why)
        return replace(found, heard_difference=off, tokens_per_answer=tokens)

    def learn(self, policy: Policy, on_policy: float | None) -> None:
        """How a candidate did on-policy, against the same parent."""
        if policy.id in self._off and on_policy is not None:
            self._pairs.append((self._off[policy.id], on_policy))

    def summary(self) -> ScreenSummary:
        """The screen in numbers."""
        return ScreenSummary(
            self.heard, float(self.spent), len(self._pairs), self.concordance, self.on
        )
