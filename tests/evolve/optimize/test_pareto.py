"""The front: what no other beats in accuracy and tokens at once."""

from __future__ import annotations

import pytest

from evolve.optimize.archive import Archive, PassedOver, Version
from evolve.optimize.constraints import Constraints
from evolve.optimize.pareto import Point, front, points
from policies.policy import seed_policy

SEED = seed_policy("awe")
BETTER, CHEAPER, LUCKY, WORSE = (SEED.derive(settings={"top_k": n}) for n in (11, 5, 6, 7))
GATE = {f"u{n}": 0.3 + 0.01 * n for n in range(8)}
HIGHER = {key: value + 0.2 for key, value in GATE.items()}


def archive(limit: int | None = None) -> Archive:
    start = Archive((Version(SEED, GATE, 1000.0),), constraints=Constraints(None, limit))
    return (
        start.accept(BETTER, HIGHER, 1200.0)
        .pass_over(PassedOver(CHEAPER, SEED.id, -0.01, 8, 700.0))
        .pass_over(PassedOver(LUCKY, SEED.id, 0.4, 4, 900.0))
        .pass_over(PassedOver(WORSE, SEED.id, -0.05, 8, 950.0))
    )


def point(accuracy: float, tokens: float) -> Point:
    return Point(SEED, accuracy, tokens, 8, accepted=True)


def test_nothing_on_the_front_is_beaten() -> None:
    found = [point(*xy) for xy in ((0.5, 900), (0.4, 800), (0.5, 850), (0.3, 850), (0.6, 2000))]
    assert [(p.accuracy, p.tokens) for p in front(found)] == [(0.4, 800), (0.5, 850), (0.6, 2000)]
    assert front([]) == ()


def test_of_equals_the_first_stays() -> None:
    first, second = point(0.5, 900), point(0.5, 900)
    assert front([first, second])[0] is first


def test_what_the_gate_did_not_accept_counts_as_no_better() -> None:
    found = {p.policy.id: p for p in points(archive())}
    seed = found[SEED.id].accuracy
    assert found[LUCKY.id].accuracy == seed
    assert found[CHEAPER.id].accuracy == pytest.approx(seed - 0.01)
    assert [p.policy for p in front(found.values())] == [CHEAPER, LUCKY, BETTER]
    assert [p.accepted for p in front(found.values())] == [False, False, True]


def test_the_front_keeps_the_limit() -> None:
    assert [p.policy for p in front(points(archive(limit=1100)))] == [CHEAPER, LUCKY]


def test_what_cannot_be_compared_has_no_front() -> None:
    assert points(Archive((Version(SEED, {}, 1000.0),))) == ()
