"""One tiny run: its curve is that of the versions, and its scores are those of the run itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.compare_run import Recorder, execute
from benchmarks.compare_worlds import Draws
from evolve.display import Standing


def standing(spent: float, policy: str) -> Standing:
    return Standing(1, spent, 40, 12.5, 0.4, (0.3, 0.1, 0.1), 0.0, 1, 0, policy, "6 train users")


def test_the_recorder_notes_when_another_version_becomes_the_best() -> None:
    recorder = Recorder()
    for spent, policy in ((6.0, "a"), (18.0, "a"), (25.0, "b"), (30.0, "a")):
        recorder.standing(standing(spent, policy))
    assert recorder.best == [(6.0, "a"), (25.0, "b"), (30.0, "a")]
    assert recorder.evolving == 27.5


@pytest.mark.extra
@pytest.mark.parametrize("world", ["a", "transfer"])
def test_a_run_is_scored_beside_its_budget(world: str) -> None:
    held: list[str] = []

    @contextmanager
    def ablation() -> Iterator[None]:
        held.append("begun")
        yield
        held.append("ended")

    spec = Draws(5000, budget=42, users=18).spec(world, "joint", 0)
    ran = execute(spec, None, ablation())
    assert held == ["begun", "ended"]
    assert ran.spent <= 42
    assert ran.curve[0].spent == 0
    assert ran.curve[0].memory == ran.seed.memory
    assert ran.curve[-1].memory == ran.best.memory
    assert [p.spent for p in ran.curve] == sorted(p.spent for p in ran.curve)
    assert 0 < ran.evolving < 42
    assert ran.steps is not None
