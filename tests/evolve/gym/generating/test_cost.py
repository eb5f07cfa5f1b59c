"""The estimate is what a run in which all is right at once calls, and half as much again."""

from __future__ import annotations

from dataclasses import replace

from evolve.gym.generating.cost import MENDED, estimate
from evolve.gym.generating.making import Workshop
from evolve.gym.generating.parts import opened
from evolve.gym.generating.rehearsed import Rehearsed
from evolve.lm.meter import Meter
from evolve.lm.models import ModelSpec

PRICED = ModelSpec("openai/x", price=(1.0, 10.0))


def test_the_estimate_is_what_a_rehearsed_run_calls(tmp_path, brief):
    meter = Meter(Rehearsed())
    with opened(tmp_path / "x.parts", brief, "m") as parts:
        Workshop(brief, meter, parts, 1, lambda line: None).make(4)
    cost = estimate(brief, 4, PRICED)
    for (role, used), (same, guessed) in zip(meter.usage, cost.usage, strict=True):
        assert role == same
        assert 0.9 < guessed.calls / (MENDED * used.calls) < 1.1  # calendars are drawn
        assert 0.9 < guessed.prompt_tokens / (MENDED * used.prompt_tokens) < 1.1


def test_dollars_are_those_of_the_price(brief):
    cost = estimate(brief, 4, PRICED)
    tokens = [(used.prompt_tokens, used.completion_tokens) for _, used in cost.usage]
    assert cost.total == sum(read / 1e6 + 10 * written / 1e6 for read, written in tokens)
    assert f"about ${cost.total:.2f}" in cost.table.title


def test_every_language_is_estimated(brief):
    german = estimate(replace(brief, language="German"), 1, PRICED)
    assert german.usage == estimate(brief, 1, PRICED).usage
