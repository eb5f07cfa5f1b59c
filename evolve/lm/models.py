"""Makes models by name: what names one can be handed to other processes, a model itself cannot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from evolve.lm.base import LM
from evolve.lm.offline import OfflineLM


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model, and how it is reached; holds no secret.

    Attributes:
        name: ``offline``, or a LiteLLM name such as ``openai/gpt-4.1-mini``.
        api_base: Address of the provider, where it is not its usual one.
        timeout: Seconds per call.
        price: Dollars per million tokens in and out; None for the known price.
    """

    name: str
    api_base: str | None = None
    timeout: float = 120.0
    price: tuple[float, float] | None = None


@lru_cache(maxsize=16)
def make_lm(spec: ModelSpec) -> LM:
    """The model of a spec, one per process."""
    if spec.name == "offline":
        return OfflineLM()
    raise ValueError(f"no such model: {spec.name}")
