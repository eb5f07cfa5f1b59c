"""Curves of the best version so far: read, averaged over the budget, and compared."""

from __future__ import annotations

import pytest

from evolve.anytime import Step, anytime_area, first_reached, value_at

CURVE = [Step(0, 0.1), Step(100, 0.3), Step(250, 0.2)]


def test_the_best_version_counts_from_when_it_was_found() -> None:
    assert [value_at(CURVE, at) for at in (0, 99.9, 100, 249, 400)] == [0.1, 0.1, 0.3, 0.3, 0.2]


def test_the_area_is_the_mean_score_on_the_way() -> None:
    assert anytime_area(CURVE, 400) == pytest.approx((100 * 0.1 + 150 * 0.3 + 150 * 0.2) / 400)
    assert anytime_area(CURVE, 150) == pytest.approx((100 * 0.1 + 50 * 0.3) / 150)
    assert anytime_area(CURVE, 50) == pytest.approx(0.1)


def test_a_score_is_reached_by_the_mean_of_curves() -> None:
    other = [Step(0, 0.1), Step(180, 0.5)]
    assert first_reached([CURVE, other], 0.2) == 100
    assert first_reached([CURVE, other], 0.4) == 180
    assert first_reached([CURVE, other], 0.41) is None
    assert first_reached([CURVE], 0.1) == 0


def test_what_is_no_curve_is_refused() -> None:
    for curve in ([], [Step(1, 0.1)], [Step(0, 0.1), Step(5, 0.1), Step(4, 0.1)]):
        with pytest.raises(ValueError, match="begins at 0"):
            value_at(curve, 1)
    with pytest.raises(ValueError, match="above 0"):
        anytime_area(CURVE, 0)
    with pytest.raises(ValueError, match="at least one curve"):
        first_reached([], 0.1)
