"""Asks a model for something that must be readable: once, and once more if it was not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from evolve.lm.base import LM, Message, Request
from evolve.lm.json_text import FormatError

Value = TypeVar("Value")
_SHOWN = 4000  # characters of a reply that is shown to the model again
_NOTHING_SAID = "(no text)"  # providers refuse an empty turn


@dataclass(frozen=True, slots=True)
class Read(Generic[Value]):
    """What a model said and what was read in it.

    Attributes:
        text: The last reply, as it came.
        value: What was read in it, or why nothing could be.
    """

    text: str
    value: Value | FormatError


def ask(lm: LM, request: Request, read: Callable[[str], Value]) -> Read[Value]:
    """Ask, and after a format failure ask once more with the reply and the error shown.

    Args:
        lm: Is called once or twice; its errors pass through.
        request: Says in which format to reply.
        read: Reads a reply; raises ``FormatError`` where it cannot.
    """
    first = _read(lm.complete(request).text, read)
    if not isinstance(first.value, FormatError):
        return first
    return _read(lm.complete(_again(request, first.text, first.value)).text, read)


def _read(text: str, read: Callable[[str], Value]) -> Read[Value]:
    try:
        return Read(text, read(text))
    except FormatError as error:
        return Read(text, error)


def _again(request: Request, reply: str, error: FormatError) -> Request:
    told = (
        f"Your reply could not be read: {error}. Reply to the same again, with nothing but JSON in "
        "exactly the format that was asked for."
    )
    shown = reply if reply.strip() else _NOTHING_SAID
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]} […, {len(shown) - _SHOWN} more characters]"
    turns = (Message("assistant", shown), Message("user", told))
    return replace(request, messages=(*request.messages, *turns))
