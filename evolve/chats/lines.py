"""Objects of a file in JSON Lines or a JSON list, each with its place."""

from __future__ import annotations

import json
import re
from typing import Literal

from evolve.gym.checked import Place, Record, parse_json
from policies.errors import EnvironmentFileError


def objects_of(data: bytes, source: str) -> list[Record]:
    """The objects of a file that holds one per line, or a list of them.

    Args:
        data: Its bytes, UTF-8.
        source: Names it in messages.

    Raises:
        EnvironmentFileError: In one sentence: it is empty, no UTF-8, or a line is no JSON object.
    """
    place = Place(source, EnvironmentFileError)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        content = parse_json(data, source, EnvironmentFileError)
        items = place.members(content, "the file", "object")
        lines = _lines_of(data.decode("utf-8-sig"), len(items))
        if len(set(lines)) == len(items) > 1:  # else a line names none of them
            items = [
                (place.at("line", str(n)), item) for n, (_, item) in zip(lines, items, strict=True)
            ]
        return [at.record(item) for at, item in items]
    objects = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if line.strip():
            at = place.at("line", str(number))
            content = parse_json(line, f"{source}, line {number}", EnvironmentFileError)
            objects.append(at.record(content))
    if not objects:
        raise place.wrong("the file holds nothing", "put one object in braces on each line")
    return objects


def _lines_of(text: str, count: int) -> list[int]:
    """The lines, from 1 on, on which the items of a JSON list begin."""
    decoder, lines, before, end = json.JSONDecoder(), list[int](), 0, text.index("[") + 1
    line = 1
    for _ in range(count):
        while text[end] in _BETWEEN:
            end += 1
        line += text.count("\n", before, end)
        lines.append(line)
        before, end = end, decoder.raw_decode(text, end)[1]
    return lines


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


_BETWEEN = frozenset(", \t\r\n")
_HEADING = re.compile(rb"""["']?\w+["']?(?:[,;\t]["']?\w+["']?){2,}\s*""")
_CHATS = re.compile(rb'(?<!\\)"(?:messages|role)"\s*:')
_PROBES = tuple(
    re.compile(rb"\b" + key + rb"""\b["']?\s*:""") for key in (b"question", b"expected")
)
_BEGINNING = 100_000  # bytes that are looked at


def looks_like(data: bytes) -> Literal["chats", "probes"] | None:
    """What the keys at the beginning of a file are those of, though it may break other rules."""
    beginning = data[:_BEGINNING]
    if _CHATS.search(beginning):
        return "chats"
    return "probes" if all(key.search(beginning) for key in _PROBES) else None
