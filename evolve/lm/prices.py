"""What calls cost: by the price that was given, else by LiteLLM's own table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evolve.lm.models import ModelSpec


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per token; ``cached`` is of prompt tokens that the provider's own cache served."""

    prompt: float
    completion: float
    cached: float

    def of(self, prompt: int, completion: int, cached: int = 0) -> float:
        """Dollars of a call; ``cached`` prompt tokens are among the ``prompt`` ones."""
        return (prompt - cached) * self.prompt + cached * self.cached + completion * self.completion


def price_of(spec: ModelSpec) -> Price | None:
    """The price of a model, None for one that has none: it is unpriced, which is not free.

    The table is imported with LiteLLM, which takes seconds the first time. Surcharges for very long
    prompts are not counted.
    """
    if spec.name == "offline":
        return Price(0.0, 0.0, 0.0)
    if spec.price is not None:
        prompt, completion = (dollars / 1e6 for dollars in spec.price)
        return Price(prompt, completion, prompt)
    return _known(spec.name)


def dollars(spec: ModelSpec, prompt: int, completion: int, cached: int = 0) -> float | None:
    """Dollars of a call of so many tokens, None for an unpriced model."""
    price = price_of(spec)
    return None if price is None else price.of(prompt, completion, cached)


@lru_cache
def _known(name: str) -> Price | None:
    from evolve.lm.provider import price_table

    entry = _entry(name, price_table())
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if prompt is None or completion is None:
        return None
    cached = entry.get("cache_read_input_token_cost")
    return Price(float(prompt), float(completion), float(prompt if cached is None else cached))


def _entry(name: str, table: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A model's line: under its whole name, or under its last part if that is the provider's."""
    if name in table:
        return table[name]
    provider, _, model = name.partition("/")
    entry = table.get(model, {})
    return entry if entry.get("litellm_provider") == provider else {}
