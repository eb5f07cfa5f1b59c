"""What a candidate changed of its parent, for a narrow page: settings, then lines one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evolve.results.side_by_side import Pieces, Row, near_changes, rows_of
from policies.difference import changed_settings
from policies.policy import Policy

_AROUND = 2  # unchanged lines that stay beside a change

Sign = Literal["same", "gone", "new", "left out"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text that changed.

    Attributes:
        sign: Whether both texts have it, only the parent's, only the candidate's, or lines that
            both have are left out here.
        pieces: In order, each with whether it is what differs within the line.
    """

    sign: Sign
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs from one policy to another.

    Attributes:
        settings: Name, value before and value after, of each that differs; the architecture is
            among them. A setting that one of them lacks is ``(none)`` there.
        texts: Name of each text that differs, with its lines.
    """

    settings: tuple[tuple[str, str, str], ...]
    texts: tuple[tuple[str, tuple[Line, ...]], ...]


def changes(before: Policy, after: Policy) -> Changes:
    """What differs from ``before`` to ``after``; names, lineage and scores are not compared."""
    names = dict.fromkeys([*before.texts, *after.texts])
    pairs = ((name, before.texts.get(name, ""), after.texts.get(name, "")) for name in names)
    texts = ((name, tuple(_lines(rows_of(was, now)))) for name, was, now in pairs if was != now)
    return Changes(changed_settings(before, after), tuple(texts))


def _lines(rows: Sequence[Row]) -> Iterator[Line]:
    """Changed lines and those around them; of the others how many they are."""
    for row in near_changes(rows, _AROUND):
        if isinstance(row, int):
            yield _left_out(row)
            continue
        if not row.changed:
            yield Line("same", row.after or ())
            continue
        if row.before is not None:
            yield Line("gone", row.before if row.after else _plain(row.before))
        if row.after is not None:
            yield Line("new", row.after if row.before else _plain(row.after))


def _plain(pieces: Pieces) -> Pieces:
    """A line that is gone or new as a whole: nothing in it need be marked."""
    return tuple((piece, False) for piece, _ in pieces)


def _left_out(count: int) -> Line:
    return Line("left out", ((f"{count} line{'s' * (count != 1)} unchanged", False),))
