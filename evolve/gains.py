"""The difference of two policies on the same answers, paired, with its interval over clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from evolve.seeding import derive
from evolve.stats import Interval, cluster_interval
from feedback.records import Diagnosis, Stage

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bounds = Mapping[tuple[str, int, int], float]
ClusterOf = Callable[[Diagnosis], str]


@dataclass(frozen=True, slots=True)
class Lead:
    """How far one policy is ahead of another on the same answers.

    Attributes:
        memory: Difference of their memory scores; None where it is undefined.
        accuracy: Difference in accuracy, in -1..1.
    """

    memory: Interval | None
    accuracy: Interval


def leads(
    best: Sequence[Diagnosis],
    baselines: Mapping[str, Sequence[Diagnosis]],
    bounds: Bounds,
    cluster_of: ClusterOf,
    seed: int,
) -> dict[str, Lead]:
    """How far the best policy is ahead of each baseline; without those it shares no cluster with.

    All were asked the same questions by the same model, so the difference to ``none`` is what
    memory brings beyond the model's skill, and that to ``native`` what it brings beyond the
    conversation itself.

    Args:
        best: Answers of the best policy.
        baselines: Name to the same answers of that policy.
        bounds: Upper bound of each of them.
        cluster_of: What was drawn independently with an answer, such as its user.
        seed: Of the run.
    """
    found = {}
    for name, diagnoses in baselines.items():
        accuracy = accuracy_gain(diagnoses, best, cluster_of, seed)
        if accuracy is not None:
            found[name] = Lead(memory_gain(diagnoses, best, bounds, cluster_of, seed), accuracy)
    return found


def memory_gain(
    before: Sequence[Diagnosis],
    after: Sequence[Diagnosis],
    bounds: Bounds,
    cluster_of: ClusterOf,
    seed: int,
) -> Interval | None:
    """Difference of two pooled memory scores on the clusters that both have; None if undefined.

    Args:
        before: Answers of the one policy.
        after: The same answers of the other.
        bounds: Upper bound of each of them.
        cluster_of: What was drawn independently with an answer, such as its user.
        seed: Of the run.
    """
    import numpy as np

    def statistic(sums: NDArray[Any]) -> NDArray[Any]:
        room = sums[..., 4] - sums[..., 3]
        gained: NDArray[Any] = (sums[..., 1] - sums[..., 0]) / np.where(room > 0, room, np.nan)
        return gained

    rows = _paired_sums(before, after, bounds, cluster_of)
    return _interval(rows, statistic, derive(seed, "gain"))


def accuracy_gain(
    before: Sequence[Diagnosis], after: Sequence[Diagnosis], cluster_of: ClusterOf, seed: int
) -> Interval | None:
    """The same in accuracy, pooled over answers; None if there is no cluster that both have."""

    def statistic(sums: NDArray[Any]) -> NDArray[Any]:
        gained: NDArray[Any] = (sums[..., 1] - sums[..., 0]) / sums[..., 2]
        return gained

    rows = _paired_sums(before, after, None, cluster_of)
    return _interval(rows, statistic, derive(seed, "gain", "accuracy"))


def shown_gain(gain: Interval | None, digits: int = 2) -> str:
    """A gain in words: ``+0.11 [0.04, 0.17]``."""
    if gain is None:
        return "gain undefined"
    if not isfinite(gain.low):
        return f"{gain.mean:+.{digits}f} [no interval from one cluster]"
    return f"{gain.mean:+.{digits}f} [{gain.low:.{digits}f}, {gain.high:.{digits}f}]"


def lead_rows(whose: str, found: Mapping[str, Lead]) -> tuple[tuple[str, ...], ...]:
    """Leads as rows of a table: over whom, clusters, memory score, accuracy.

    Args:
        whose: Whose leads they are, in words.
        found: Name of a baseline to the lead over it.
    """
    return tuple(
        (
            f"{whose} less {name}",
            str(lead.accuracy.n),
            shown_gain(lead.memory),
            shown_gain(lead.accuracy),
        )
        for name, lead in found.items()
    )


def _paired_sums(
    before: Sequence[Diagnosis],
    after: Sequence[Diagnosis],
    bounds: Bounds | None,
    cluster_of: ClusterOf,
) -> list[tuple[float, ...]]:
    """Per cluster: right before, right after, answers, expected by guessing, right at the bound."""
    right: list[dict[str, float]] = [{}, {}]
    expected: dict[str, tuple[float, float, float]] = {}
    for place, diagnoses in enumerate((before, after)):
        for d in diagnoses:
            cluster = cluster_of(d)
            right[place][cluster] = right[place].get(cluster, 0.0) + (d.stage is Stage.RIGHT)
    for d in before:
        answers, guess, upper = expected.get(cluster_of(d), (0.0, 0.0, 0.0))
        bound = 0.0 if bounds is None else bounds[d.user, d.period, d.question]
        expected[cluster_of(d)] = answers + 1, guess + d.guessed, upper + bound
    both = sorted(right[0].keys() & right[1].keys())
    return [(right[0][c], right[1][c], *expected[c]) for c in both]


def _interval(rows: Sequence[tuple[float, ...]], statistic: Any, seed: int) -> Interval | None:
    try:
        return cluster_interval(rows, statistic, seed)
    except ValueError:
        return None
