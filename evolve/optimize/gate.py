"""The two tests that a candidate must pass: a minibatch of train users, then held-out users.

Error rate. The level of a run, 0.10, is shared out among the candidates that reach the gate: each
takes of what is left as much as if so many more came as the budget is expected to bring there, and
that is settled before it is tested. A candidate's level is spent over its looks: after a share s of
the clusters, s**4 of it may have been spent, so early looks accept only what is overwhelming and
the last keeps most. The
chance that a run accepts any candidate that is no better is at most the sum of what is spent (the
union bound), whatever the dependence between looks and between candidates. Stopping for futility
only ever rejects, so this holds also if its rule is not followed.

What the bound needs is that each look's p-value is right. Student's t is, for differences near
normal; ``stats.guarded_t`` keeps it close for a long lower tail, and ``stats.sd_floor`` keeps a few
equal differences from passing. ``benchmarks/gate_power.py`` measures what is left: near-normal and
heavy-tailed nulls stay well below 0.10 a run, strongly skewed ones do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Literal

from evolve.stats import floored_moments, guarded_t, paired_t

RUN_LEVEL = 0.10
FEWEST_CLUSTERS = 4
SPENDING = 4.0
FUTILITY = 0.10

_TINY = 1e-9  # sums of rounded fractions: a mean of zero must not pass as a gain of 1e-17

State = Literal["accept", "reject", "continue"]


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What the gate says after the clusters judged so far.

    Attributes:
        state: ``accept``, ``reject``, or ``continue`` with more clusters.
        look: Number of the look that says so, from 1; 0 where none was reached.
        n: Clusters at that look; those judged so far where none was reached.
        mean: Mean paired difference in accuracy over these; 0 without any.
        p: Its one-sided p-value; None where no look was reached.
        threshold: What p must not exceed at this look; None likewise.
        reason: One sentence.
    """

    state: State
    look: int
    n: int
    mean: float
    p: float | None
    threshold: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The sequential paired test of one candidate and the incumbent; pure and deterministic.

    Attributes:
        level: Chance to accept a candidate that is no better, in (0, 1); see ``candidate_level``.
        max_clusters: Clusters at the last look, at least ``FEWEST_CLUSTERS``.
        answers: Answers per cluster; the fewest where clusters differ.
        look_every: Clusters between looks, at least 2. The last look takes a remainder smaller
            than half of it. Under a time split, where a user's questions come together, a multiple
            of the number of questions.

    Raises:
        ValueError: A value outside its range.
    """

    level: float
    max_clusters: int
    answers: int
    look_every: int = 4

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {self.level}")
        if self.max_clusters < FEWEST_CLUSTERS:
            raise ValueError(f"at least {FEWEST_CLUSTERS} clusters, not {self.max_clusters}")
        if self.answers < 1 or self.look_every < 2:
            raise ValueError("at least 1 answer per cluster and 2 clusters between looks")

    @property
    def looks(self) -> tuple[tuple[int, float], ...]:
        """(clusters, threshold of p) of every look; the thresholds sum to ``level``."""
        return self._looks(self.max_clusters)

    def missing(self, n: int) -> int:
        """Clusters to add to ``n`` to reach the next look; 0 after the last one."""
        return next((size - n for size, _ in self.looks if size > n), 0)

    def decide(self, differences: Sequence[float], exhausted: bool = False) -> GateDecision:
        """Decide from all differences so far, in the order in which clusters were judged.

        Every look that they reach is taken again from the first, so the decision depends on the
        sequence alone, not on how it arrived; differences after a decision change nothing.

        Args:
            differences: Candidate minus incumbent in accuracy, one per cluster, pairs that failed
                for outside reasons left out.
            exhausted: No more clusters can come, for dropped pairs or budget. What was judged then
                is the last look, with all of the level that was not yet spent; neither cause
                depends on how the candidate did, so the bound holds.
        """
        n = len(differences)
        last = min(n, self.max_clusters) if exhausted else self.max_clusters
        if last < FEWEST_CLUSTERS:
            reason = (
                f"only {n} clusters could be judged on both sides, {FEWEST_CLUSTERS} are needed"
            )
            return GateDecision("reject", 0, n, _mean(differences), None, None, reason)
        decision = None
        for look, (size, threshold) in enumerate(self._looks(last), start=1):
            if size > n:
                break
            decision = self._look(differences[:size], look, threshold, final=size == last)
            if decision.state != "continue":
                return decision
        if decision is not None:
            return decision
        reason = f"the first look comes after {self.looks[0][0]} clusters"
        return GateDecision("continue", 0, n, _mean(differences), None, None, reason)

    def chance(self, differences: Sequence[float]) -> float:
        """Predictive chance to pass the last look for one that did so on other users, at least 2.

        With no prior opinion; see ``decide`` for the differences.
        """
        n, total = len(differences), self.looks[-1][0]
        return self._chance(n, *floored_moments(differences, self.answers), 1 / n + 1 / total)

    def _looks(self, last: int) -> tuple[tuple[int, float], ...]:
        """The looks when the last one comes after ``last`` clusters instead of all."""
        step, total = self.look_every, self.max_clusters
        sizes = [n for n in range(step, total, step) if 2 * (total - n) >= step and n < last]
        spent = [self.level * (n / total) ** SPENDING for n in sizes]
        steps = [b - a for a, b in zip([0.0, *spent], [*spent, self.level], strict=True)]
        return tuple(zip([*sizes, last], steps, strict=True))

    def _look(
        self, differences: Sequence[float], look: int, threshold: float, final: bool
    ) -> GateDecision:
        n, last = len(differences), self.looks[-1][0]
        p = guarded_t(differences, self.answers)
        mean, sd = floored_moments(differences, self.answers)
        state: State = "continue"
        seen = f"mean difference {mean:+.4f} after {n} clusters, p {p:.2g}"
        if p <= threshold:
            state, reason = "accept", f"{seen}, within this look's {threshold:.2g}"
        elif final:
            state, reason = "reject", f"{seen}, above the last look's {threshold:.2g}"
        elif (chance := self._chance(n, mean, sd, 1 / n - 1 / last)) < FUTILITY:
            state = "reject"
            reason = f"{seen}, so it passes the last look with a chance of {chance:.2g} only"
        else:
            reason = f"{seen}, above {threshold:.2g}, with a chance of {chance:.2g} to pass yet"
        return GateDecision(state, look, n, mean, p, threshold, reason)

    def _chance(self, n: int, mean: float, sd: float, spread: float) -> float:
        """Predictive chance, with no prior opinion, to pass at the last look.

        Given the mean of n, the mean of N has a variance of sd² times ``spread`` about it: of
        1/n - 1/N where the n are among them, of 1/n + 1/N where they are not.
        """
        from scipy.special import stdtr, stdtrit

        total, threshold = self.looks[-1]
        needed = -float(stdtrit(total - 1, threshold)) * sd / sqrt(total)
        return float(stdtr(n - 1, (mean - needed) / (sd * sqrt(spread))))


def minibatch_passes(differences: Sequence[float]) -> bool:
    """Whether the mean paired difference on the minibatch is above zero; False without any."""
    return _mean(differences) > _TINY


def no_chance(differences: Sequence[float], total: int, answers: int) -> bool:
    """Whether the mean over ``total`` clusters is hardly to come out above zero, given the first.

    By the same predictive chance as at the gate, and as rarely; False where too few are known.

    Args:
        differences: Candidate minus incumbent in accuracy, of the clusters so far.
        total: Clusters in all.
        answers: Per cluster.
    """
    from scipy.special import stdtr

    n = len(differences)
    if not 2 <= n < total:
        return False
    mean, sd = floored_moments(differences, answers)
    return bool(stdtr(n - 1, mean / (sd * sqrt(1 / n - 1 / total))) < FUTILITY)


def candidate_level(candidates: int) -> float:
    """Level of one candidate where as many reach the gate as were expected: for plans.

    One that the minibatch stopped, or that was judged before, spends nothing and does not count.

    Raises:
        ValueError: Fewer than one candidate.
    """
    if candidates < 1:
        raise ValueError(f"at least one candidate, not {candidates}")
    return RUN_LEVEL / candidates


def next_level(left: float, expected: float) -> float:
    """Level of the next candidate at the gate: its part of what is left of the run's level.

    Whatever is expected, the parts of a run never add up to more than its level, so the union bound
    holds: who comes to the gate, and when, may depend on all that was seen before.

    Args:
        left: Of the run's level.
        expected: Candidates that are yet to come there, this one included.
    """
    return left / max(1.0, expected)


def could_pass(clusters: int, level: float, answers: int, look_every: int = 4) -> bool:
    """Whether any outcome on so many clusters could be accepted.

    It needs ``FEWEST_CLUSTERS``, below which no test of means is to be trusted, and a p-value under
    the threshold of the last look when the candidate is right and its parent wrong everywhere.
    Where this is False for the gate users, the run splits by time instead: clusters are (user,
    question) pairs, of which a few users have dozens.
    """
    if clusters < FEWEST_CLUSTERS:
        return False
    last = Gate(level, clusters, answers, look_every).looks[-1][1]
    return paired_t([1.0] * clusters, answers) <= last


def _mean(differences: Sequence[float]) -> float:
    return fsum(differences) / len(differences) if differences else 0.0
