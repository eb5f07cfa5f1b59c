"""A value that was found, as a message shows it: whoever wrote it, it stays short."""

from __future__ import annotations

import reprlib

_MOST = 100  # characters; a list of lists of lists is long though each of them is shortened


def short(value: object) -> str:
    """A value as Python writes it; of a long one the beginning, or beginning and end."""
    try:
        text = reprlib.repr(value)
    except ValueError:  # Python writes no whole number of thousands of digits
        return "a number that is too long to show"
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
