"""The list of types to remember within a prompt from elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(?=\S)")
_LISTS = re.compile(
    r"\b(?:types?|information|remember|categor\w*|kinds?|topics?|track|focus|capture|store)\b"
    r"|类型|信息|種類|情報",
    re.I,
)
_OTHER = re.compile(
    r"\b(?:rules?|examples?|formats?|steps?|instructions?|guidelines?|constraints?|output)\b",
    re.I,
)
_LEAST = 3  # items of a list that is taken out of a prompt


@dataclass(frozen=True, slots=True)
class Taken:
    """A list that was taken out of a prompt.

    Attributes:
        before: The prompt up to it.
        types: Its items, a bullet each.
        after: The prompt from there.
        count: Number of items.
    """

    before: str
    types: str
    after: str
    count: int


def bullets(text: str) -> list[str]:
    """The items of a text that is a list and nothing else; empty if it is another text."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not _BULLET.match(lines[0]):
        return []
    return _items(lines)


def as_list(items: list[str]) -> str:
    """Items as a list of types in a policy."""
    return "".join(f"- {item}\n" for item in items)


def take_types(text: str) -> Taken | None:
    """The longest list in a prompt whose heading says that it names types to remember.

    None where there is no list of at least three items under such a heading.
    """
    lines = text.splitlines(keepends=True)
    best: tuple[int, int] | None = None
    start = 0
    while start < len(lines):
        end = _end_of_list(lines, start)
        if end == start:
            start += 1
            continue
        if _names_types(lines[:start]) and (best is None or end - start > best[1] - best[0]):
            best = start, end
        start = end
    if best is None:
        return None
    items = _items(lines[best[0] : best[1]])
    if len(items) < _LEAST:
        return None
    before, after = "".join(lines[: best[0]]), "".join(lines[best[1] :])
    return Taken(before, as_list(items), after, len(items))


def _end_of_list(lines: list[str], start: int) -> int:
    """Where the list that begins in a line ends; that line itself if none begins there."""
    if not _BULLET.match(lines[start]):
        return start
    end = start + 1
    while end < len(lines) and lines[end].strip():
        if not _BULLET.match(lines[end]) and not lines[end].startswith((" ", "\t")):
            break
        end += 1
    return end


def _names_types(before: list[str]) -> bool:
    heading = next((line for line in reversed(before) if line.strip()), "")
    return bool(_LISTS.search(heading)) and not _OTHER.search(heading)


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if _BULLET.match(line):
            items.append(_BULLET.sub("", line).strip())
        else:
            items[-1] = f"{items[-1]} {line.strip()}"
    return items
