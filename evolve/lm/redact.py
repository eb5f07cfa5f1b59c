"""Takes keys out of texts that a provider wrote, which may quote them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

_SECRET_NAME = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$|PASSWORD$", re.IGNORECASE)
PIECE = 8  # characters: a shorter piece of a key tells nobody anything
_SHORTEST = 4  # of a value removed whole; local servers are given keys such as "x"
_REMOVED = "[removed]"


def secrets(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Values of environment variables whose names are those of keys, the longest first."""
    found = {
        value.strip()
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value.strip()) >= _SHORTEST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def redact(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """A text without any key, nor any piece of one of ``PIECE`` characters or more.

    For errors: what a provider says of a key is often part of it. Linear in the length of the text.
    """
    hidden = secrets(environ)
    pieces = {
        value[start : start + PIECE] for value in hidden for start in range(len(value) - PIECE + 1)
    }
    kept, end = [], 0  # end: of what was removed last
    for start in range(len(text) - PIECE + 1):
        if text[start : start + PIECE] in pieces:
            if start > end or not start:
                kept.append(text[end:start] + _REMOVED)
            end = start + PIECE
    kept.append(text[end:])
    return _whole("".join(kept), (value for value in hidden if len(value) < PIECE))


def redact_reply(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """A model's own words without any whole key; pieces may be words that it means."""
    return _whole(text, (value for value in secrets(environ) if len(value) >= PIECE))


def _whole(text: str, values: Iterable[str]) -> str:
    for value in values:
        text = text.replace(value, _REMOVED)
    return text
