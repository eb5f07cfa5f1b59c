"""The stand-in's part of the finer operators on texts: one type, a shorter text, a repair.

Like the whole rewrite it has only the words of its prompt, and no way to tell a good word from a
bad one but the counts that it is shown.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_CHANGE = re.compile(r"^(worse|better): (.+?), (\d+) (?:more|fewer) wrong", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def sharpened(text: str, failing_type: str) -> str:
    """The list with a bullet for one type, above its last, or the same if it is there."""
    label = failing_type.replace("_", " ")
    lines = text.split("\n")
    if any(label.casefold() == _plain(line) for line in lines):
        return text
    near = [n for n, line in enumerate(lines) if set(_plain(line).split()) & set(label.split())]
    lines.insert(near[-1] + 1 if near else len(lines), f"- {label}")
    return "\n".join(lines)


def shortened(text: str, still_failing: Sequence[str], room: int) -> str:
    """The text cut to its room, as far as that goes.

    First explanations of bullets and last sentences of paragraphs go, the longest first; then
    bullets, from the end, that name nothing that fails. Lines with a placeholder or a JSON form
    stay as they are.
    """
    lines = text.split("\n")
    wordy = sorted(
        (n for n, line in enumerate(lines) if _may_go(line)), key=lambda n: -len(lines[n])
    )
    for n in wordy:
        if _size(lines) > room:
            lines[n] = _briefer(lines[n])
    failing = {name.casefold() for name in still_failing}
    for n in sorted(wordy, reverse=True):
        if _size(lines) > room and _BULLET.match(lines[n]) and _plain(lines[n]) not in failing:
            del lines[n]
    return "\n".join(lines)


def _briefer(line: str) -> str:
    if _BULLET.match(line):
        return re.split("[:：]", line)[0]
    pieces = _SENTENCE.split(line)
    return " ".join(pieces[:-1]) if len(pieces) > 1 else line


def repaired(current: str, attempt: str, changes: str, draw: random.Random) -> str:
    """The attempt, with lines of the current text back where more got worse than better."""
    counts = {"worse": 0, "better": 0}
    for kind, _, count in _CHANGE.findall(changes):
        counts[kind] += int(count)
    lost = [line for line in current.split("\n") if line.strip() and line not in attempt]
    if not lost or counts["worse"] <= counts["better"] * draw.random():
        return attempt
    return "\n".join([*lost, attempt])


def _may_go(line: str) -> bool:
    return bool(line.strip()) and not any(mark in line for mark in ("{", "}", '"'))


def _plain(line: str) -> str:
    """What a bullet names, in plain words, without its explanation."""
    return re.split("[:：]", _BULLET.sub("", line))[0].strip().replace("_", " ").casefold()


def _size(lines: Sequence[str]) -> int:
    return len("\n".join(lines).encode())
