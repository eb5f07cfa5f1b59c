"""Tests and intervals against scipy and closed forms."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evolve.stats import (
    Interval,
    cluster_interval,
    guarded_t,
    mean_interval,
    paired_differences,
    paired_t,
    sd_floor,
    share_interval,
    shrink,
)

steps = st.integers(-64, 64).map(lambda k: k / 64)


def test_mean_interval_is_students() -> None:
    values = [0.1, 0.25, -0.05, 0.4, 0.0]
    found = mean_interval(values, level=0.9)
    low, high = scipy_stats.t.interval(0.9, 4, loc=np.mean(values), scale=scipy_stats.sem(values))
    assert found.n == 5
    assert (found.mean, found.low, found.high) == pytest.approx((0.14, low, high))


def test_mean_interval_of_one_value_is_infinite_and_of_none_an_error() -> None:
    assert mean_interval([0.3]) == Interval(0.3, -inf, inf, 1)
    with pytest.raises(ValueError, match="at least one value"):
        mean_interval([])


@pytest.mark.parametrize(("hits", "n"), [(0, 9), (3, 9), (9, 9), (52, 1000)])
def test_share_interval_is_exact(hits: int, n: int) -> None:
    expected = scipy_stats.binomtest(hits, n).proportion_ci(method="exact")
    found = share_interval(hits, n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_share_interval_refuses_what_is_no_share() -> None:
    for hits, n in ((1, 0), (5, 4), (-1, 4), (0, 0)):
        with pytest.raises(ValueError, match="hits must lie"):
            share_interval(hits, n)


def test_paired_differences_take_common_keys_in_sorted_order() -> None:
    found = paired_differences({"c": 1.0, "a": 0.5, "x": 0.0}, {"a": 0.25, "c": 0.5, "y": 1.0})
    assert list(found.items()) == [("a", 0.25), ("c", 0.5)]


@pytest.mark.parametrize("n", [4, 8, 24])
@pytest.mark.parametrize("shift", [-0.05, 0.0, 0.05])
def test_paired_t_is_scipys_where_the_floor_does_not_bind(n: int, shift: float) -> None:
    draws = shift + 0.1 * np.random.default_rng(n).standard_normal(n)
    expected = scipy_stats.ttest_1samp(draws, 0.0, alternative="greater").pvalue
    assert paired_t(draws.tolist(), answers=64) == pytest.approx(expected)


def test_equal_differences_are_judged_by_the_floor() -> None:
    t = (1 / 64) * sqrt(8) / sqrt((1 / 64) * (63 / 64) / 64)
    assert paired_t([1 / 64] * 8, answers=64) == pytest.approx(scipy_stats.t.sf(t, 7))
    assert paired_t([1 / 64] * 8, answers=64) > 0.01
    assert paired_t([1.0] * 4) == pytest.approx(scipy_stats.t.sf(4.0, 3))  # floor 0.5


@pytest.mark.parametrize("test", [paired_t, guarded_t])
def test_nothing_speaks_for_a_gain(test) -> None:
    for differences in ([], [0.5], [0.0] * 6, [-0.25] * 6):
        assert test(differences, answers=64) == 1.0


def test_floor_falls_with_answers_and_never_vanishes() -> None:
    assert sd_floor(0.25, 1) == 0.5
    assert sd_floor(0.25, 4) == pytest.approx(sqrt(0.25 * 0.75) / 2)
    assert sd_floor(-0.25, 16) == pytest.approx(sqrt(0.25 * 0.75) / 4)
    assert sd_floor(0.0, 64) == sd_floor(1.0, 64) == sd_floor(1.5, 64) == 0.5 / 64


@given(st.lists(steps, min_size=2, max_size=24), st.sampled_from([1, 2, 64]))
def test_p_values_are_ordered(differences: list[float], answers: int) -> None:
    plain, guarded = paired_t(differences, answers), guarded_t(differences, answers)
    assert 0.0 <= plain <= guarded <= 1.0
    if len(set(differences)) > 1 and sum(differences) > 0:
        bare = scipy_stats.ttest_1samp(differences, 0.0, alternative="greater").pvalue
        assert plain >= bare * (1 - 1e-9)


def test_guard_corrects_for_a_lower_tail_alone() -> None:
    upper = [0.0, 0.0, 0.0, 0.1, 0.0, 0.4]
    assert guarded_t(upper, 64) == paired_t(upper, 64)
    lower = [0.2, 0.2, 0.2, 0.1, 0.2, -0.2]
    t = float(np.mean(lower)) / scipy_stats.sem(lower)
    skewness = np.mean((lower - np.mean(lower)) ** 3) / np.std(lower, ddof=1) ** 3
    g = float(skewness) / sqrt(6)
    hall = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
    assert guarded_t(lower, 64) == pytest.approx(scipy_stats.t.sf(hall, 5))
    assert guarded_t(lower, 64) > paired_t(lower, 64)


def test_guard_keeps_the_level_closer_when_losses_are_rare_and_large() -> None:
    draws = 0.05 * (2 - np.random.default_rng(3).gamma(4, 0.5, (4000, 24)))  # skewness -1
    plain = np.mean([paired_t(row, 64) <= 0.01 for row in draws.tolist()])
    guarded = np.mean([guarded_t(row, 64) <= 0.01 for row in draws.tolist()])
    assert plain > 0.02
    assert guarded < 0.75 * plain


def mean_of(sums: np.ndarray) -> np.ndarray:
    """Pooled mean from columns (sum, count)."""
    return sums[..., 0] / sums[..., 1]


def test_cluster_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(0).normal(0.1, 0.05, 12)
    found = cluster_interval([(v, 1.0) for v in values], mean_of, seed=1, draws=20_000)
    expected = mean_interval(values.tolist())
    assert (found.mean, found.n) == (pytest.approx(expected.mean), 12)
    assert found.high - found.mean == pytest.approx(expected.high - expected.mean, rel=0.03)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


def test_cluster_interval_repeats_with_its_seed() -> None:
    rows = [(3.0, 8.0), (5.0, 8.0), (4.0, 16.0)]
    assert cluster_interval(rows, mean_of, seed=1) == cluster_interval(rows, mean_of, seed=1)
    assert cluster_interval(rows, mean_of, seed=1) != cluster_interval(rows, mean_of, seed=2)


def test_cluster_interval_of_a_memory_score_difference_covers_the_truth() -> None:
    rng = np.random.default_rng(5)

    def gain(sums: np.ndarray) -> np.ndarray:
        return (sums[..., 0] - sums[..., 1]) / (sums[..., 3] - sums[..., 2])

    covered = 0
    for run in range(400):
        ability = rng.normal(0.4, 0.08, 10)
        rights = rng.binomial(64, ability + 0.06), rng.binomial(64, ability)
        upper = rng.binomial(64, 0.9, 10)
        found = cluster_interval(
            np.column_stack([*rights, np.full(10, 64 * 0.2), upper]).tolist(), gain, run, draws=300
        )
        covered += found.low <= 0.06 / 0.7 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_cluster_interval_is_infinite_where_the_data_cannot_bound_it() -> None:
    assert cluster_interval([(1.0, 2.0)], mean_of, seed=0) == Interval(0.5, -inf, inf, 1)
    sometimes_undefined = [(1.0, 2.0), (0.0, 0.0)]
    assert cluster_interval(sometimes_undefined, mean_of, seed=0) == Interval(0.5, -inf, inf, 2)
    with pytest.raises(ValueError, match="undefined"):
        cluster_interval([(0.0, 0.0)], mean_of, seed=0)
    with pytest.raises(ValueError, match="at least one cluster"):
        cluster_interval([], mean_of, seed=0)


def test_shrink_is_the_closed_form() -> None:
    # variance of the estimates 0.01; mean squared error (0.0036 + 0.0009 + 0) / 3 = 0.0015
    found = shrink([0.4, 0.5, 0.6], [0.06, 0.03, 0.0])
    between = 0.0085
    expected = (0.5 - 0.1 * between / (between + 0.0036), 0.5, 0.6)
    assert found == pytest.approx(expected)


def test_shrink_gives_the_mean_where_noise_explains_all() -> None:
    assert shrink([0.4, 0.6], [0.5, 0.5]) == (0.5, 0.5)
    assert shrink([0.3, 0.3], [0.0, 0.0]) == (0.3, 0.3)
    assert shrink([0.3], [0.1]) == (0.3,)


@given(st.lists(st.tuples(steps, st.floats(0, 1)), min_size=1, max_size=8))
def test_shrink_stays_between_estimate_and_mean(pairs: list[tuple[float, float]]) -> None:
    estimates = [estimate for estimate, _ in pairs]
    mean = sum(estimates) / len(estimates)
    for x, shrunk in zip(estimates, shrink(estimates, [se for _, se in pairs]), strict=True):
        assert min(x, mean) - 1e-9 <= shrunk <= max(x, mean) + 1e-9


def test_shrink_refuses_uneven_input() -> None:
    with pytest.raises(ValueError, match="do not go with"):
        shrink([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="do not go with"):
        shrink([], [])
