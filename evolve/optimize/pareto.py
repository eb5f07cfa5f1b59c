"""The front of a run: policies that no other beats in accuracy and in tokens at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evolve.optimize.archive import Archive
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Point:
    """A policy by what it gives and what it takes.

    Attributes:
        policy: The policy.
        accuracy: At the gate, in 0..1, an estimate shrunk towards the mean of all versions.
        tokens: Per answer.
        clusters: Gate clusters that the accuracy is known from.
        accepted: Whether it is a version.
    """

    policy: Policy
    accuracy: float
    tokens: float
    clusters: int
    accepted: bool


def points(archive: Archive) -> tuple[Point, ...]:
    """All that was judged at the gate and keeps the limits, versions first.

    A candidate that the gate did not accept was not shown to be better than the version that it was
    compared with, and counts as no better: chance, which favours the best-looking of many, must not
    lift it over what was accepted. Empty where the versions cannot be compared.
    """
    estimates = archive.estimates()
    if estimates is None:
        return ()
    known = {v.policy.id: e for v, e in zip(archive.allowed, estimates, strict=True)}
    clusters = len(archive.common)
    found = [
        Point(v.policy, known[v.policy.id], v.tokens, clusters, accepted=True)
        for v in archive.allowed
        if v.tokens is not None
    ]
    for one in archive.passed_over:
        if one.incumbent in known and archive.constraints.too_dear(one.tokens) is None:
            accuracy = known[one.incumbent] + min(0.0, one.difference)
            found.append(Point(one.policy, accuracy, one.tokens, one.clusters, accepted=False))
    return tuple(found)


def front(found: Iterable[Point]) -> tuple[Point, ...]:
    """The points that no other beats, the cheapest first; of equals the first one."""
    kept: list[Point] = []
    for point in sorted(found, key=lambda p: (round(p.tokens, 6), -round(p.accuracy, 9))):
        if not kept or round(point.accuracy, 9) > round(kept[-1].accuracy, 9):
            kept.append(point)
    return tuple(kept)
