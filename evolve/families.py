"""Many comparisons judged together: Holm's correction, and a rule that may stop some of them early.

The differences of a comparison are paired by draw, and draws are independent of each other. All
tests are one-sided and by Student's t; levels are shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Literal

from evolve.stats import Interval, mean_interval

SPENDING = 2.0  # after a share s of the draws, s**2 of the level may have been spent

State = Literal["open", "above", "below", "not shown"]


@dataclass(frozen=True, slots=True)
class Looks:
    """When a family is judged, settled before its first draw.

    Attributes:
        draws: Number of draws at each look, rising, each at least 2; the last look ends it.
        level: Chance that any comparison whose true mean is not above zero is called ``above``.

    Raises:
        ValueError: No looks, or they do not rise from 2.
    """

    draws: tuple[int, ...]
    level: float = 0.025

    def __post_init__(self) -> None:
        if not self.draws or any(b <= a for a, b in pairwise((1, *self.draws))):
            raise ValueError(f"looks must rise from at least 2 draws, not {self.draws}")

    @property
    def levels(self) -> tuple[float, ...]:
        """What may be spent at each look; together the level."""
        shares = [0.0, *((n / self.draws[-1]) ** SPENDING for n in self.draws)]
        return tuple(self.level * (b - a) for a, b in pairwise(shares))


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of one comparison.

    Attributes:
        state: ``above`` zero; ``below``, given up early as it is worse; ``not shown`` at the last
            look; ``open`` as long as a look is to come.
        draws: Draws that it rests on.
        mean: The mean difference with its own 95 % interval; None without draws.
        p: Corrected by Holm at the look that says so; None before the first.
    """

    state: State
    draws: int
    mean: Interval | None
    p: float | None


def mean_above(values: Sequence[float], bound: float = 0.0) -> float:
    """p-value that the mean is not above a bound; 1 for fewer than two values.

    Equal values leave no doubt: 0 where they lie above the bound, else 1.
    """
    if len(values) < 2:
        return 1.0
    found = mean_interval(values)
    if max(values) == min(values):
        return 0.0 if values[0] > bound else 1.0
    from scipy.special import stdtr

    n = len(values)
    error = sqrt(sum((x - found.mean) ** 2 for x in values) / (n - 1) / n)
    return float(stdtr(n - 1, (bound - found.mean) / error))


def holm(p_values: Mapping[str, float], others: int = 0) -> dict[str, float]:
    """p-values corrected for their number (Holm 1979), each at most 1, in the given order.

    Args:
        p_values: Comparison to p-value.
        others: Comparisons of the same family that have no p-value here and count as large ones.
    """
    corrected: dict[str, float] = {}
    least, count = 0.0, len(p_values) + others
    for rank, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        least = max(least, min(1.0, (count - rank) * p_values[name]))
        corrected[name] = least
    return {name: corrected[name] for name in p_values}


def judge_family(differences: Mapping[str, Sequence[float]], looks: Looks) -> dict[str, Judged]:
    """Judge comparisons on the draws that there are, look by look.

    At each look, those not yet called ``above`` are held by Holm's correction to what may be spent
    there. Before the first false call all that were called are truly above, so at every look at
    least as many are counted as are not above, and the chance of a false call is at most the sum of
    what is spent. One that was given up stays in that count: giving up never helps another. It is
    given up before the last look where a test at the whole level says that its mean is below zero.

    Args:
        differences: Comparison to its differences in the order of draws. Draws after the look that
            ended a comparison change nothing.
        looks: When they are judged.
    """
    judged: dict[str, Judged] = {}
    for n, level in zip(looks.draws, looks.levels, strict=True):
        still = {
            name: values[:n]
            for name, values in differences.items()
            if name not in judged and len(values) >= n
        }
        above = sum(one.state == "above" for one in judged.values())
        others = len(differences) - above - len(still)
        corrected = holm({name: mean_above(v) for name, v in still.items()}, others)
        for name, values in still.items():
            state = _state(values, corrected[name] <= level, looks, n)
            if state != "open":
                judged[name] = Judged(state, n, mean_interval(values), corrected[name])
    return {
        name: judged[name] if name in judged else _still_open(values)
        for name, values in differences.items()
    }


def _state(values: Sequence[float], is_above: bool, looks: Looks, n: int) -> State:
    if is_above:
        return "above"
    if n == looks.draws[-1]:
        return "not shown"
    return "below" if mean_above([-value for value in values]) <= looks.level else "open"


def _still_open(values: Sequence[float]) -> Judged:
    return Judged("open", len(values), mean_interval(values) if values else None, None)
