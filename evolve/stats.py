"""The tests and intervals by which the gate decides and the reports speak; pure functions.

Levels are shares (0.95, not 95). A cluster is what was drawn independently: a user, or under a time
split a (user, question) pair. An interval that the data cannot bound is infinite on both sides,
so it includes zero and cannot be mistaken for a narrow one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, isfinite, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes:
        mean: The estimate: a mean, a share, or another statistic.
        low: Lower end; ``-inf`` where the data cannot bound it.
        high: Upper end; ``inf`` likewise.
        n: Number of values, or of clusters, that it rests on.
    """

    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """The mean and its interval by Student's t; infinite for a single value.

    Raises:
        ValueError: There are no values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("a mean needs at least one value")
    mean, sd = _moments(values)
    half = _t_quantile(level, n - 1) * sd / sqrt(n) if n > 1 else inf
    return Interval(mean, mean - half, mean + half, n)


def share_interval(hits: int, n: int, level: float = 0.95) -> Interval:
    """A share and its exact interval (Clopper and Pearson 1934).

    Raises:
        ValueError: ``n`` is not positive, or ``hits`` lies outside 0..n.
    """
    from scipy.special import betaincinv

    if not 0 <= hits <= n or n == 0:
        raise ValueError(f"hits must lie in 0..n with n at least 1, not {hits} of {n}")
    tail = (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return Interval(hits / n, low, high, n)


def paired_differences(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    """``a - b`` on the keys that both have, in sorted order of the keys.

    A key that only one side has was dropped on the other, and so drops here on both.
    """
    return {key: a[key] - b[key] for key in sorted(a.keys() & b.keys())}


def paired_t(differences: Sequence[float], answers: int = 1) -> float:
    """One-sided p-value of Student's t test that the mean difference is not above zero.

    The standard deviation counts as at least ``sd_floor``, so that clusters that happen to agree
    never make a gain certain. Fewer than two differences, or equal ones that are not positive, give
    1.

    Args:
        differences: One per cluster, each the mean of ``answers`` differences of 0/1 answers.
        answers: Answers per cluster; the fewest where clusters differ. With 1 the floor is highest.
    """
    if _speaks_for_nothing(differences):
        return 1.0
    mean, sd = floored_moments(differences, answers)
    n = len(differences)
    return _t_tail(mean * sqrt(n) / sd, n - 1)


def guarded_t(differences: Sequence[float], answers: int = 1) -> float:
    """``paired_t``, made larger where the differences have a long lower tail; never smaller.

    Many small gains and a few large losses, with a mean of zero, make Student's t too bold: the
    losses are often missing from a small sample. Hall's transformation (Hall 1992, "On the removal
    of skewness by transformation") corrects the statistic by the sample's skewness. An upper tail
    makes the test too timid, which is left as it is.
    """
    if _speaks_for_nothing(differences):
        return 1.0
    mean, sd = floored_moments(differences, answers)
    n = len(differences)
    t = mean * sqrt(n) / sd
    skewness = sum([(x - mean) ** 3 for x in differences]) / (n * sd**3)
    if skewness < 0:
        g = skewness / sqrt(n)
        t = min(t, t + g * t * t / 3 + g * g * t**3 / 27 + g / 6)
    return _t_tail(t, n - 1)


def sd_floor(mean: float, answers: int) -> float:
    """The least standard deviation that differences of clusters are believed to have.

    A difference of two 0/1 answers is -1, 0 or 1. With mean m its variance is at least |m| - m²,
    and a mean of ``answers`` independent ones has that divided by their number; answers of one
    cluster share a memory, so real ones vary more. It never falls below half a step,
    0.5 / ``answers``.

    Args:
        mean: Mean difference of the clusters.
        answers: Answers per cluster, at least 1.
    """
    size = min(abs(mean), 1.0)
    return max(sqrt(size * (1 - size) / answers), 0.5 / answers)


def floored_moments(differences: Sequence[float], answers: int) -> tuple[float, float]:
    """Mean, and standard deviation raised to ``sd_floor``; at least two differences."""
    mean, sd = _moments(differences)
    return mean, max(sd, sd_floor(mean, answers))


def cluster_interval(
    sums: Sequence[Sequence[float]],
    statistic: Statistic,
    seed: int,
    level: float = 0.95,
    draws: int = 2000,
) -> Interval:
    """A statistic of pooled sums and its interval, with clusters drawn whole.

    The standard error comes from a bootstrap over clusters, times sqrt(n / (n - 1)); the interval
    is Student's t with n - 1 degrees of freedom around the estimate. For a mean this is
    ``mean_interval`` up to the error of the draws, where the bootstrap's own percentiles are too
    narrow for few clusters.

    Args:
        sums: One row per cluster, the same columns in each, such as (right answers of a, right
            answers of b, expected by guessing, right answers at the upper bound, answers).
        statistic: From pooled sums of shape (..., columns) to values of shape (...), such as
            ``lambda s: (s[..., 0] - s[..., 1]) / (s[..., 3] - s[..., 2])`` for the difference in
            memory score of a and b. It must give ``nan`` or an infinity where it is undefined.
        seed: Of the draws, from ``evolve.seeding.derive``.
        level: Confidence.
        draws: Number of resamples.

    Returns:
        The estimate with its interval, which is infinite for a single cluster or where the
        statistic is undefined in any resample.

    Raises:
        ValueError: There are no clusters, or the statistic is undefined for all of them together.
    """
    import numpy as np

    rows = np.asarray(sums, dtype=np.float64)
    n = len(rows)
    if n == 0:
        raise ValueError("a statistic of clusters needs at least one cluster")
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(statistic(rows.sum(axis=0)))
        resampled = np.asarray(statistic(counts @ rows))
    if not isfinite(estimate):
        raise ValueError("the statistic is undefined for these clusters")
    if n == 1 or not np.isfinite(resampled).all():
        return Interval(estimate, -inf, inf, n)
    half = _t_quantile(level, n - 1) * float(resampled.std()) * sqrt(n / (n - 1))
    return Interval(estimate, estimate - half, estimate + half, n)


def shrink(estimates: Sequence[float], standard_errors: Sequence[float]) -> tuple[float, ...]:
    """Empirical-Bayes estimates: each drawn towards the mean of all, the noisier the more.

    The variance between the true values is the variance of the estimates less the mean squared
    standard error (method of moments), and 0 where that is negative; then all become the mean.

    Raises:
        ValueError: Nothing to shrink, or not one standard error per estimate.
    """
    n = len(estimates)
    if n == 0 or n != len(standard_errors):
        raise ValueError(f"{n} estimates do not go with {len(standard_errors)} standard errors")
    if n == 1:
        return (float(estimates[0]),)
    mean, sd = _moments(estimates)
    between = max(0.0, sd**2 - fsum(se**2 for se in standard_errors) / n)
    if between == 0:
        return (mean,) * n
    pairs = zip(estimates, standard_errors, strict=True)
    return tuple(mean + (x - mean) * between / (between + se**2) for x, se in pairs)


def _speaks_for_nothing(differences: Sequence[float]) -> bool:
    """Fewer than two, or all equal and none positive."""
    return len(differences) < 2 or max(differences) == min(differences) <= 0


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and sample standard deviation (0 for a single value)."""
    n = len(values)
    mean = fsum(values) / n
    if n == 1:
        return mean, 0.0
    return mean, sqrt(fsum([(x - mean) ** 2 for x in values]) / (n - 1))


def _t_tail(t: float, df: int) -> float:
    """Chance of Student's t above ``t``."""
    from scipy.special import stdtr

    return float(stdtr(df, -t))


def _t_quantile(level: float, df: int) -> float:
    """What Student's t stays below in absolute value with chance ``level``."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))
