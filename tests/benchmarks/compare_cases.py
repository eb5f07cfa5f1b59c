"""Runs of a comparison as tests make them up."""

from __future__ import annotations

from benchmarks.compare_run import Found, Point, Ran
from feedback.records import TraceStage


def found(memory: float | None, tokens: float = 1300.0) -> Found:
    """A policy with this memory score."""
    trace = {stage.value: 0.01 for stage in TraceStage}
    return Found(memory, 0.4, 0.4, 0.1, 0.1, 0.0, trace, tokens)


def ran(best: float | None, seed: float = 0.2, at: float = 100.0, gate_gain: float = 0.1) -> Ran:
    """A run of budget 400 that finds its best after so many rollouts and gains 0.08 on test."""
    return Ran(
        curve=(Point(0.0, "seed", seed, 1300.0), Point(at, "best", best, 1400.0)),
        seed=found(seed),
        best=found(best, 1400.0),
        evolving=320.0,
        spent=395.5,
        accepted=2,
        candidates=20,
        gate_gain=gate_gain,
        test_gain=0.08,
        ended="the budget is spent",
        seconds=30.0,
        scoring=5.0,
    )
