"""Who plays which role: models by the names of the command line, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.ranges import check_address, known_fields, parse_price
from policies.errors import ConfigError

OFFLINE = "offline"
_MODEL = re.compile(r"[^\s/]+/\S+")


def _provider(name: str) -> str:
    return name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Models:
    """Who plays which role.

    Attributes:
        model: Plays the assistant and answers for the upper bounds: ``offline``, or a LiteLLM name
            such as ``openai/gpt-4.1-mini``.
        user_model: Plays the user; empty for ``model``, which then stands here.
        rewrite_model: Rewrites texts; empty likewise.
        api_base: Where the models of one provider are served, that of the first real model of the
            three, every one of them; None for every provider's own address.
        price: Dollars per million prompt and completion tokens of models with no known price, and
            of the only real model whether its price is known or not.
    """

    model: str = OFFLINE
    user_model: str = ""
    rewrite_model: str = ""
    api_base: str | None = None
    price: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("user_model", "rewrite_model"):
            # Written out, so that a run is the same whether its default was given or not.
            object.__setattr__(self, name, getattr(self, name) or self.model)
        for name in ("model", "user_model", "rewrite_model"):
            value = getattr(self, name)
            if value != OFFLINE and not _MODEL.fullmatch(value):
                raise ConfigError(
                    f"--{name.replace('_', '-')} must be {OFFLINE} or a LiteLLM name such as "
                    f"openai/gpt-4.1-mini, but is {value!r}; name the provider, a slash and the "
                    "model."
                )
        for name in ("api_base", "price"):
            if getattr(self, name) is not None and not self.real:
                raise ConfigError(
                    f"--{name.replace('_', '-')} says something of a model that is called, but all "
                    f"roles are played by {OFFLINE}; name one by --model, or leave it out."
                )
        if self.api_base is not None:
            check_address(self.api_base)

    @property
    def real(self) -> tuple[str, ...]:
        """The models that are called, each once, in the order of the roles."""
        names = dict.fromkeys((self.model, self.user_model, self.rewrite_model))
        return tuple(name for name in names if name != OFFLINE)

    def base_of(self, name: str) -> str | None:
        """Where a model is served, if not at its provider's own address."""
        served = name != OFFLINE and _provider(name) == _provider(self.real[0])
        return self.api_base if served else None


def make_models(given: Mapping[str, Any]) -> Models:
    """The models of options by name, whatever else stands among them.

    Raises:
        ConfigError: A name, an address or a price is not usable.
    """
    kept = known_fields(Models, given)
    if kept.get("price") is not None:
        kept["price"] = parse_price(kept["price"])
    return Models(**kept)
