"""Whether what a memory system of one's own returns has the types that its records declare.

A record of other types would be written to the journal and could not be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import get_args

from evolve.agents.base import Prepared
from evolve.lm.base import Message, Request, Task
from feedback.records import Context, Entry, Write
from policies.shown import short

Fits = Callable[[object], str]
"""From a value to what is wrong with it, empty where nothing is."""


def misfit(kind: type[object], value: object) -> str:
    """What a value is that is no such record, or which of its fields is of another type.

    Args:
        kind: ``Entry``, ``Write``, ``Context``, ``Request``, ``Message`` or ``Prepared``.
        value: As somebody's class returned it.

    Returns:
        Words that follow "is"; empty where it fits.
    """
    if not isinstance(value, kind):
        return _shown(value)
    for name, fits in _FIELDS[kind].items():
        found = fits(getattr(value, name, None))
        if found:
            return f"one whose {name} is {found}"
    return ""


def text_misfit(value: object) -> str:
    """The same for a text, which must hold whole characters."""
    if not isinstance(value, str):
        return _shown(value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        return f"{short(value)}, with half a character (a surrogate)"
    return ""


def _shown(value: object) -> str:
    try:
        return short(value)
    except Exception:  # of somebody's __repr__
        return f"a {type(value).__name__}"


def _whole(value: object) -> str:
    return "" if type(value) is int else _shown(value)


def _number(value: object) -> str:
    return "" if type(value) in {int, float} else _shown(value)


def _task(value: object) -> str:
    return "" if isinstance(value, str) and value in get_args(Task) else _shown(value)


def _or_none(fits: Fits) -> Fits:
    return lambda value: "" if value is None else fits(value)


def _each(fits: Fits) -> Fits:
    def of_all(value: object) -> str:
        if not isinstance(value, tuple):
            return f"{_shown(value)}, not a tuple"
        found = next(filter(None, map(fits, value)), "")
        return found and f"a tuple with {found}"

    return of_all


def _record(kind: type[object]) -> Fits:
    return lambda value: misfit(kind, value)


_FIELDS: Mapping[type[object], Mapping[str, Fits]] = MappingProxyType(
    {
        Entry: {
            "id": _whole,
            "label": text_misfit,
            "text": text_misfit,
            "sources": _each(text_misfit),
            "written": _whole,
            "period": _whole,
            "session": _whole,
            "retired": _or_none(_whole),
            "retired_because": _or_none(text_misfit),
        },
        Write: {
            "number": _whole,
            "period": _whole,
            "batch": _each(text_misfit),
            "entries": _each(_whole),
            "format_error": _or_none(text_misfit),
        },
        Context: {"entries": _each(_whole), "messages": _each(text_misfit)},
        Message: {"role": text_misfit, "content": text_misfit},
        Request: {
            "task": _task,
            "messages": _each(_record(Message)),
            "seed": _whole,
            "max_tokens": _whole,
            "temperature": _number,
        },
        Prepared: {"request": _record(Request), "context": _record(Context)},
    }
)
