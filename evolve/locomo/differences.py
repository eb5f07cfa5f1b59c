"""Paired differences on dialogues: the mean over questions, its interval with dialogues whole."""

from __future__ import annotations

from collections.abc import Iterable

from evolve.seeding import derive
from evolve.stats import Interval, cluster_interval


def over_dialogues(differences: Iterable[tuple[str, float]], seed: int) -> Interval:
    """The mean difference and its 95 % interval.

    Args:
        differences: Per question its dialogue, which is the cluster, and the difference.
        seed: Of the run.
    """
    sums: dict[str, list[float]] = {}
    for dialogue, difference in differences:
        of_dialogue = sums.setdefault(dialogue, [0.0, 0.0])
        of_dialogue[0] += difference
        of_dialogue[1] += 1
    rows = list(sums.values())
    return cluster_interval(rows, lambda s: s[..., 0] / s[..., 1], derive(seed, "dialogues"))
