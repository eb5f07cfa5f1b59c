"""Strict reading of what a model wrote: every breach is a reason that it can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolve.lm.json_text import FormatError, objects_in


def part_of(reply: str, key: str) -> object:
    """The value of a key in the one JSON object of a reply that has it.

    Raises:
        FormatError: There is none, it is cut off, or there are several that differ.
    """
    found = [one[key] for one in objects_in(reply) if key in one]
    if not found:
        raise FormatError(f"the reply has no JSON object with the key {key!r}")
    if any(one != found[0] for one in found):
        raise FormatError(f"the reply has several JSON objects with {key!r} that differ")
    return found[0]


def as_text(value: object, what: str, most: int) -> str:
    """A text of 1 to ``most`` characters, without white space around it.

    Raises:
        FormatError: It is something else; ``what`` names it there.
    """
    if not isinstance(value, str) or not value.strip():
        raise FormatError(f"{what} must be text that is not blank")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise FormatError(f"{what} holds half of a surrogate pair")
    if len(value.strip()) > most:
        raise FormatError(f"{what} must have at most {most} characters, not {len(value.strip())}")
    return value.strip()


def as_object(value: object, what: str) -> Mapping[str, object]:
    """An object with keys; raises as ``as_text``."""
    if not isinstance(value, dict):
        raise FormatError(f"{what} must be a JSON object")
    return value


def as_list(value: object, what: str, count: int | None = None) -> Sequence[object]:
    """A list of ``count`` members, or of any number; raises as ``as_text``."""
    if not isinstance(value, list):
        raise FormatError(f"{what} must be a list")
    if count is not None and len(value) != count:
        raise FormatError(f"{what} must have {count} members, not {len(value)}")
    return value


def numbered(value: object, what: str, count: int) -> tuple[object, ...]:
    """The values under the keys ``"1"`` to ``count``, in order; raises as ``as_text``."""
    found = as_object(value, what)
    wanted = [str(number) for number in range(1, count + 1)]
    if set(found) != set(wanted):
        raise FormatError(f"{what} must have the keys 1 to {count}, each once")
    return tuple(found[key] for key in wanted)
