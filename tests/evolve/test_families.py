"""Holm's correction and the rule that stops comparisons, on worked examples and on null draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evolve.families import Looks, holm, judge_family, mean_above

LOOKS = Looks((4, 8, 12), level=0.05)


def test_holm_on_a_worked_example() -> None:
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert list(found) == ["a", "b", "c", "d"]
    assert holm({"a": 0.4, "b": 0.9}) == {"a": 0.8, "b": 0.9}
    assert holm({"a": 0.01}, others=3) == {"a": pytest.approx(0.04)}
    assert holm({}) == {}


@pytest.mark.parametrize("bound", [-0.01, 0.0, 0.02])
def test_mean_above_is_students(bound: float) -> None:
    values = [0.1, 0.25, -0.05, 0.4, 0.0]
    expected = scipy_stats.ttest_1samp(values, bound, alternative="greater").pvalue
    assert mean_above(values, bound) == pytest.approx(expected)


def test_a_mean_of_equal_or_too_few_values() -> None:
    assert mean_above([0.3]) == 1.0
    assert mean_above([]) == 1.0
    assert (mean_above([0.25] * 3), mean_above([0.0] * 3), mean_above([-1.0] * 3)) == (0, 1, 1)


def test_looks_spend_the_level_and_most_of_it_last() -> None:
    assert sum(LOOKS.levels) == pytest.approx(0.05)
    assert LOOKS.levels[0] == pytest.approx(0.05 / 9)
    for draws in ((), (1, 2), (4, 4), (8, 4)):
        with pytest.raises(ValueError, match="rise from at least 2"):
            Looks(draws)


def spread(mean: float, n: int) -> list[float]:
    """Values with this mean and a standard deviation of about 1, in any even number of them."""
    return [mean + sign for _ in range(n // 2) for sign in (-1.0, 1.0)]


def test_comparisons_end_in_either_direction_at_a_look() -> None:
    found = judge_family(
        {
            "clear": spread(50.0, 12),
            "worse": spread(-5.0, 12),
            "vague": spread(0.1, 12),
            "short": spread(0.1, 6),
            "new": [],
        },
        LOOKS,
    )
    assert {name: (one.state, one.draws) for name, one in found.items()} == {
        "clear": ("above", 4),
        "worse": ("below", 4),
        "vague": ("not shown", 12),
        "short": ("open", 6),
        "new": ("open", 0),
    }
    assert found["new"].mean is None
    assert found["short"].p is None


def test_draws_after_the_end_change_nothing() -> None:
    values = spread(50.0, 4)
    assert judge_family({"a": values}, LOOKS) == judge_family({"a": values + [-99.0] * 8}, LOOKS)


def test_one_that_is_above_makes_it_easier_for_the_rest_and_one_given_up_does_not() -> None:
    p = 0.02  # of the comparison in question, above the last look's level for two
    values = np.array(spread(0.0, 12))
    values += values.std(ddof=1) / np.sqrt(12) * scipy_stats.t.isf(p, 11)
    weak = values.tolist()
    with_above = judge_family({"weak": weak, "other": spread(50.0, 12)}, LOOKS)
    with_below = judge_family({"weak": weak, "other": spread(-50.0, 12)}, LOOKS)
    assert with_above["weak"].state == "above"
    assert with_above["weak"].p == pytest.approx(p)
    assert with_below["weak"].state == "not shown"
    assert with_below["weak"].p == pytest.approx(2 * p)


def test_families_of_nulls_are_rarely_called_above() -> None:
    draw = np.random.default_rng(5)
    false = 0
    for _ in range(400):
        family = {str(k): draw.standard_normal(12).tolist() for k in range(4)}
        false += any(one.state == "above" for one in judge_family(family, LOOKS).values())
    assert 5 <= false <= 30  # 0.05 of 400 is 20, with a standard deviation of 4.4
