"""The phrases of the sample environment, read from the packaged banks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

VARIANTS = ("a", "b")


@dataclass(frozen=True, slots=True)
class Phrases:
    """Ways to say that one state has one value.

    Attributes:
        implied: Sentences that a user says and that only imply the value.
        explicit: Sentences that a user says and that state the value.
        clause: Fragments that go on from "Since"; they begin with "you" or "your".
    """

    implied: tuple[str, ...]
    explicit: tuple[str, ...]
    clause: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bank:
    """One variant's phrases, over the schema that all variants share.

    Attributes:
        schema: Domain to state type to its possible values, in the order of the schema file.
        factors: State type to the noun phrase by which a question names it.
        phrases: (state type, value) to its phrases.
        requests: Domain to the questions that may close a message.
        advice: Clauses that end an answer choice; they fit every value.
        generic: Small talk of the kinds that a generic list of types covers.
        empty: Small talk that fits no type.
    """

    schema: Mapping[str, Mapping[str, tuple[str, ...]]]
    factors: Mapping[str, str]
    phrases: Mapping[tuple[str, str], Phrases]
    requests: Mapping[str, tuple[str, ...]]
    advice: tuple[str, ...]
    generic: tuple[str, ...]
    empty: tuple[str, ...]

    def values(self, state: str) -> tuple[str, ...]:
        """Possible values of a state type."""
        return next(states[state] for states in self.schema.values() if state in states)


@lru_cache(maxsize=len(VARIANTS))
def read_bank(variant: str) -> Bank:
    """The packaged bank of a variant, one of ``VARIANTS``.

    Raises:
        KeyError: If the bank lacks a state type or a value of the schema; the tests rule it out.
    """
    schema = {
        domain: {state: tuple(values) for state, values in states.items()}
        for domain, states in _read("schema.yaml").items()
    }
    return bank_of(schema, _read(f"bank_{variant}.yaml"))


def bank_of(schema: Mapping[str, Mapping[str, tuple[str, ...]]], bank: Mapping[str, Any]) -> Bank:
    """A bank from its file's content, which must cover the schema."""
    states = bank["states"]
    phrases = {
        (state, value): Phrases(
            **{
                kind: tuple(states[state]["values"][value][kind])
                for kind in ("implied", "explicit", "clause")
            }
        )
        for types in schema.values()
        for state, values in types.items()
        for value in values
    }
    return Bank(
        schema=schema,
        factors={state: states[state]["factor"] for types in schema.values() for state in types},
        phrases=phrases,
        requests={domain: tuple(bank["requests"][domain]) for domain in schema},
        advice=tuple(bank["advice"]),
        generic=tuple(bank["chatter"]["generic"]),
        empty=tuple(bank["chatter"]["empty"]),
    )


def _read(name: str) -> Any:
    """Content of a packaged YAML file of the folder ``banks``."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where it is built
    text = (files("evolve.gym") / "banks" / name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=loader)
