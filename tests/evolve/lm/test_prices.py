"""Dollars: given, known, unknown."""

from __future__ import annotations

import pytest

from evolve.lm.models import ModelSpec
from evolve.lm.prices import dollars, price_of


@pytest.mark.parametrize("name", ["openai/gpt-4.1-mini", "gpt-4.1-mini"])
def test_known_models_have_a_price_for_prompt_completion_and_cached_prompt(name: str) -> None:
    spec = ModelSpec(name)
    assert dollars(spec, 1_000_000, 0) == pytest.approx(0.4)
    assert dollars(spec, 0, 1_000_000) == pytest.approx(1.6)
    assert dollars(spec, 1_000_000, 0, 1_000_000) == pytest.approx(0.1)


def test_an_unknown_model_is_unpriced_and_not_free() -> None:
    assert dollars(ModelSpec("openai/nobody-knows"), 1, 1) is None
    assert dollars(ModelSpec("openai/claude-sonnet-4-5"), 1, 1) is None, "another provider's"


def test_a_given_price_is_taken_and_offline_is_free() -> None:
    spec = ModelSpec("openai/gpt-4.1-mini", price=(2.0, 8.0))
    assert dollars(spec, 500_000, 250_000) == pytest.approx(3.0)
    assert dollars(spec, 500_000, 0, 500_000) == pytest.approx(1.0), "no discount is known"
    assert price_of(ModelSpec("offline")) is not None
    assert dollars(ModelSpec("offline"), 10, 10) == 0
