"""What differs between two policies, side by side: line by line and word by word, as HTML."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from policies.difference import changed_settings
from policies.policy import Policy

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_AROUND = 1  # unchanged lines that stay beside a change
_ALIKE = 0.5  # similarity of two lines from which on they are one line that was changed
# Marked words are struck through or underlined, too: a shade alone is easily missed.
_MARK = "background:rgba(127,127,127,.25)"
_TABLE = "width:100%;table-layout:fixed"
_CELL = "text-align:left;vertical-align:top;white-space:pre-wrap;width:50%"

Pieces = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a text before and after.

    Attributes:
        before: Its pieces, each with whether it is gone; None where the line is new.
        after: Its pieces, each with whether it is new; None where the line is gone.
    """

    before: Pieces | None
    after: Pieces | None

    @property
    def changed(self) -> bool:
        """Whether the two differ."""
        return self.before != self.after


def rows_of(before: str, after: str) -> tuple[Row, ...]:
    """All lines of two texts, those that belong together in one row."""
    ours, theirs = before.split("\n"), after.split("\n")
    found: list[Row] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, False).get_opcodes():
        if tag == "equal":
            found += [Row(((line, False),), ((line, False),)) for line in ours[a:b]]
        else:
            found += _changed(ours[a:b], theirs[c:d])
    return tuple(found)


def as_html(before: Policy, after: Policy) -> str:
    """The differences of two policies as tables: settings, then each text that differs.

    What is gone is struck through on the left, what is new is underlined on the right. Names,
    lineage and scores are not compared.
    """
    head = _row("th", escape(_called(before)), escape(_called(after)))
    parts = [f'<table style="{_TABLE}">{head}{"".join(_settings(before, after))}</table>']
    for name in dict.fromkeys([*before.texts, *after.texts]):
        texts = [policy.texts.get(name, "") for policy in (before, after)]
        if texts[0] != texts[1]:
            body = "".join(_shown(rows_of(*texts)))
            parts.append(f'<p><b>{escape(name)}</b></p><table style="{_TABLE}">{body}</table>')
    return "\n".join(parts)


def _changed(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Row]:
    """Rows of lines that were replaced: a line beside the next one that resembles it."""
    rest = list(theirs)
    for line in ours:
        like = [difflib.SequenceMatcher(None, line, other).ratio() for other in rest]
        near = next((at for at, ratio in enumerate(like) if ratio >= _ALIKE), None)
        if near is None:
            yield Row(((line, True),), None)
            continue
        for new in rest[:near]:
            yield Row(None, ((new, True),))
        yield _words(line, rest[near])
        rest = rest[near + 1 :]
    for new in rest:
        yield Row(None, ((new, True),))


def _words(before: str, after: str) -> Row:
    ours, theirs = _WORDS.findall(before), _WORDS.findall(after)
    left: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, False).get_opcodes():
        if b > a:
            left.append(("".join(ours[a:b]), tag != "equal"))
        if d > c:
            right.append(("".join(theirs[c:d]), tag != "equal"))
    return Row(tuple(left), tuple(right))


def _settings(before: Policy, after: Policy) -> Iterator[str]:
    """A row per setting that differs, and one for the architecture where that does."""
    for name, was, now in changed_settings(before, after):
        left, right = _marked(((was, True),), "del"), _marked(((now, True),), "ins")
        yield _row("td", f"{name}: {left}", f"{name}: {right}")


def _shown(rows: Sequence[Row]) -> Iterator[str]:
    for row in near_changes(rows, _AROUND):
        if isinstance(row, int):
            yield _left_out(row)
        else:
            yield _row("td", _marked(row.before or (), "del"), _marked(row.after or (), "ins"))


def near_changes(rows: Sequence[Row], around: int) -> Iterator[Row | int]:
    """Changed lines and so many around each; in place of those between, how many they are."""
    near = {
        at + step
        for at, row in enumerate(rows)
        if row.changed
        for step in range(-around, around + 1)
    }
    left_out = 0
    for at, row in enumerate(rows):
        if at not in near:
            left_out += 1
            continue
        if left_out:
            yield left_out
        left_out = 0
        yield row
    if left_out:
        yield left_out


def _left_out(lines: int) -> str:
    shown = f"<i>{lines} line{'s' * (lines != 1)} unchanged</i>"
    return _row("td", shown, shown)


def _marked(pieces: Pieces, tag: str) -> str:
    return "".join(
        f'<{tag} style="{_MARK}">{escape(text)}</{tag}>' if new and text else escape(text)
        for text, new in pieces
    )


def _row(cell: str, left: str, right: str) -> str:
    cells = "".join(f'<{cell} style="{_CELL}">{text}</{cell}>' for text in (left, right))
    return f"<tr>{cells}</tr>"


def _called(policy: Policy) -> str:
    return f"{policy.name or policy.architecture} {policy.short_id}"
