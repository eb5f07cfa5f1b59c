"""Takes keys out of texts that a provider wrote, which may quote them, however they are written.

A piece of a key is looked for as it stands, and in letters and digits alone, whatever stands
between them and whether large or small: plain, from its end, in hexadecimal and in base64, after
percent signs and escapes have been read.
"""

from __future__ import annotations

import base64
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from evolve.lm.keys import own_keys, secrets

PIECE = 8  # characters: a shorter piece of a key tells nobody anything
_REMOVED = "[removed]"
_ESCAPED = re.compile(
    r"\\+u\{?([0-9a-f]{2,6})\}?|\\+x([0-9a-f]{2})|%(?:25)*([0-9a-f]{2})|&#x([0-9a-f]{1,6});|.",
    re.I | re.S,
)
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")


def redact(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """A text without any key, nor any piece of one of ``PIECE`` characters or more.

    For errors: what a provider says of a key is often part of it. Linear in the length of the text.
    """
    hidden = secrets(environ)
    raw, read = _pieces(hidden)
    spans = [*_found(text, raw), *_found_read(text, read)] if len(text) >= PIECE else []
    kept: list[str] = []
    end = 0  # of what was removed last
    for first, last in sorted(spans):
        if first > end or not kept:
            kept.append(text[end:first] + _REMOVED)
        end = max(end, last)
    kept.append(text[end:])
    return _whole("".join(kept), (value for value in hidden if len(value) < PIECE))


def redact_reply(text: str, model: str, environ: Mapping[str, str] = os.environ) -> str:
    """A model's own words without any whole key that it may have been sent; all else is meant."""
    return _whole(text, own_keys(model, environ))


def plain(text: str) -> str:
    """A text in one line, without what moves a terminal's cursor or cannot be seen or stored."""
    if text.isascii() and text.isprintable():
        return text
    shown = (" " if each.isspace() else each for each in _TERMINAL.sub("", text))
    return " ".join("".join(c for c in shown if unicodedata.category(c)[0] != "C").split())


@lru_cache(maxsize=8)
def _pieces(hidden: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """All pieces of keys: as they stand, and as they are read."""
    forms = {_letters(form) for value in hidden if len(value) >= PIECE for form in _forms(value)}
    return frozenset(_windows(hidden)), frozenset(_windows(forms))


def _forms(value: str) -> Iterator[str]:
    """Ways to write a key."""
    content = value.encode("utf-8", "replace")
    yield from (value, value[::-1], content.hex())
    for before in range(3):  # bytes of what was encoded with it; its ends depend on what they are
        packed = base64.b64encode(b"\0" * before + content).decode()
        yield packed[(0, 2, 3)[before] : len(packed) - 4]


def _windows(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        for start in range(len(value) - PIECE + 1):
            yield value[start : start + PIECE]


def _letters(text: str) -> str:
    return "".join(each for each in text.lower() if each.isascii() and each.isalnum())


def _found(text: str, pieces: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where pieces stand in a text."""
    for start in range(len(text) - PIECE + 1):
        if text[start : start + PIECE] in pieces:
            yield start, start + PIECE


def _found_read(text: str, pieces: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where pieces stand in a text, once its escapes have been read, and in its letters alone."""
    if not pieces:
        return
    for unescaped in (True, False):
        if not unescaped and "%" not in text and "\\" not in text and "&" not in text:
            return
        read, spans = [], []
        for match in _ESCAPED.finditer(text) if unescaped else re.finditer(".", text, re.S):
            code = next((group for group in match.groups() if group), None)
            each = match[0] if code is None else chr(min(int(code, 16), 0x10FFFF))
            for letter in _letters(each):
                read.append(letter)
                spans.append(match.span())
        for first, last in _found("".join(read), pieces):
            yield spans[first][0], spans[last - 1][1]


def _whole(text: str, values: Iterable[str]) -> str:
    for value in values:
        text = text.replace(value, _REMOVED)
    return text
