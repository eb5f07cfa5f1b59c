"""What a file of one's own looks like: chats, probes, or a table that is neither."""

from __future__ import annotations

import re
from typing import Literal

from evolve.gym.checked import Place
from policies.errors import EnvironmentFileError

_HEADING = re.compile(rb"""["']?\w+["']?(?:[,;\t]["']?\w+["']?){2,}\s*""")
_CHATS = re.compile(rb'(?<!\\)"(?:messages|role)"\s*:')
_PROBES = tuple(
    re.compile(rb"\b" + key + rb"""\b["']?\s*:""") for key in (b"question", b"expected")
)
_BEGINNING = 100_000  # bytes that are looked at


def refuse_table(data: bytes, source: str, form: str) -> None:
    """Refuse a file of comma-separated values.

    Args:
        data: Its bytes.
        source: Its name, which may end in ``.csv`` or ``.tsv``.
        form: What is expected, in words.

    Raises:
        EnvironmentFileError: It is one.
    """
    heading = data.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    if source.lower().endswith((".csv", ".tsv")) or _HEADING.fullmatch(heading):
        raise Place(source, EnvironmentFileError).wrong(
            f"{form}, but this looks like a table of separated values (CSV)",
            "make an object of each row; python -m evolve.chats.example shows both files",
        )


def looks_like(data: bytes) -> Literal["chats", "probes"] | None:
    """What the keys at the beginning of a file are those of, though it may break other rules."""
    beginning = data[:_BEGINNING]
    if _CHATS.search(beginning):
        return "chats"
    return "probes" if all(key.search(beginning) for key in _PROBES) else None
