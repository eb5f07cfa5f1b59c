"""Best-so-far curves: what a run had found by the time that it had spent so much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Step:
    """From here on a run's best version scores so much.

    Attributes:
        spent: Rollouts charged by then, 0 for the seed.
        score: Of the version that is the best from then on; not necessarily higher than before.
    """

    spent: float
    score: float


def value_at(curve: Sequence[Step], spent: float) -> float:
    """The score of the best version once so much was spent.

    Raises:
        ValueError: The curve does not begin at 0, or its steps are not in order.
    """
    _check(curve)
    return [step.score for step in curve if step.spent <= spent][-1]


def anytime_area(curve: Sequence[Step], budget: float) -> float:
    """Area under a curve from 0 to the budget, divided by the budget: the mean score on the way.

    Raises:
        ValueError: As ``value_at``, or the budget is not above 0.
    """
    _check(curve)
    if budget <= 0:
        raise ValueError(f"a budget is above 0, not {budget}")
    ends = [*(min(step.spent, budget) for step in curve), budget]
    widths = [b - a for a, b in pairwise(ends)]
    return sum(w * step.score for w, step in zip(widths, curve, strict=True)) / budget


def first_reached(curves: Sequence[Sequence[Step]], score: float) -> float | None:
    """The least spending at which the mean of several curves is at least a score; None if never.

    Raises:
        ValueError: As ``value_at``, or there are no curves.
    """
    if not curves:
        raise ValueError("a mean needs at least one curve")
    for spent in sorted({step.spent for curve in curves for step in curve}):
        if sum(value_at(curve, spent) for curve in curves) / len(curves) >= score:
            return spent
    return None


def _check(curve: Sequence[Step]) -> None:
    spent = [step.spent for step in curve]
    if not spent or spent[0] != 0 or spent != sorted(spent):
        raise ValueError(f"a curve begins at 0 and goes on in order, not {spent}")
