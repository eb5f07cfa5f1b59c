"""Reads a journal that another process may be writing: where its events stand, and what they say.

Nothing is locked or written. A torn last line is no line yet. A journal may hold hundreds of
megabytes of rollouts, so of those only the place is kept, and one is parsed when it is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolve.codec import from_data
from evolve.event_lines import parse_event
from evolve.journal import FILE
from feedback.records import Rollout
from policies.errors import RunFolderError
from policies.files import check_regular

_TEXT = rb'("(?:[^"\\]|\\.)*")'
_EVENT = re.compile(rb'\{"kind": %s, "key": %s, "data": ' % (_TEXT, _TEXT))
_LIVED = re.compile(rb'\{"policy": %s, "user": %s, ' % (_TEXT, _TEXT))
_SPAN = re.compile(r"(?::(\d+))?(:a)?")


@dataclass(frozen=True, slots=True)
class Line:
    """Where an event stands.

    Attributes:
        kind: What sort of event.
        key: Which one.
        number: Of the line, from 1.
        start: Offset of its first byte.
        size: In bytes, its end included.
    """

    kind: str
    key: str
    number: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Lines:
    """A journal's events in order.

    Attributes:
        path: Of the journal.
        others: Of all events but rollouts.
        rollouts: (policy id, user id) to where the fullest rollout of them stands: a whole life
            before part of one, and that before answers alone.
    """

    path: Path
    others: tuple[Line, ...]
    rollouts: Mapping[tuple[str, str], Line]

    def of(self, kind: str) -> Iterator[tuple[str, Any]]:
        """Key and data of the events of a kind, in order.

        Raises:
            RunFolderError: One of them was changed or damaged.
        """
        for line in self.others:
            if line.kind == kind:
                yield line.key, self.data(line)

    def data(self, line: Line) -> Any:
        """What an event says.

        Raises:
            RunFolderError: It was changed or damaged.
        """
        with self.path.open("rb") as file:
            file.seek(line.start)
            return parse_event(file.read(line.size), self.path, line.number)["data"]


class Rollouts(Mapping[tuple[str, str], Rollout]):
    """Rollouts by (policy id, user id), each parsed anew when it is asked for.

    Args:
        lines: Where they stand.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def __getitem__(self, place: tuple[str, str]) -> Rollout:
        """The rollout of a policy with a user.

        Raises:
            KeyError: There is none.
            RunFolderError: Its line was changed or damaged.
        """
        return from_data(Rollout, self._lines.data(self._lines.rollouts[place]))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Places in the order in which they were first lived."""
        return iter(self._lines.rollouts)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._lines.rollouts)


def read_lines(folder: Path) -> Lines:
    """Find the events of a run folder's journal.

    Raises:
        RunFolderError: It cannot be read, or a line is no event.
    """
    path = folder / FILE
    others: list[Line] = []
    lived: dict[tuple[str, str], tuple[tuple[bool, bool, int], Line]] = {}
    start = 0
    for number, content in enumerate(_whole(path), 1):
        found = _EVENT.match(content)
        if found is None:
            raise RunFolderError(
                f"Every line of a journal is an event, but line {number} of {path} is not; restore "
                "the file from a copy, or name another run."
            )
        kind, key = (json.loads(text) for text in found.groups())
        line = Line(kind, key, number, start, len(content))
        start += len(content)
        who = _LIVED.match(content, found.end()) if kind == "rollout" else None
        if who is None:
            others.append(line)
            continue
        policy, user = (json.loads(text) for text in who.groups())
        fullness = _fullness(key.removeprefix(f"{policy}:{user}"))
        if (policy, user) not in lived or fullness > lived[policy, user][0]:
            lived[policy, user] = fullness, line
    return Lines(path, tuple(others), {place: line for place, (_, line) in lived.items()})


def events(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Kind, key and data of every event in order, one in memory at a time.

    Raises:
        RunFolderError: The journal cannot be read, or a line was changed or damaged.
    """
    path = folder / FILE
    for number, content in enumerate(_whole(path), 1):
        event = parse_event(content, path, number)
        yield event["kind"], event["key"], event["data"]


def _whole(path: Path) -> Iterator[bytes]:
    """Whole lines, their ends included."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            for content in file:
                if content.endswith(b"\n"):
                    yield content
    except OSError as error:
        raise RunFolderError(
            f"A run is read from its folder's {FILE}, but {path} cannot be read "
            f"({error.strerror}); mend the folder, or name another run."
        ) from error


def _fullness(span: str) -> tuple[bool, bool, int]:
    """How much of a life was lived, to be compared, by the end of its key."""
    found = _SPAN.fullmatch(span)
    periods, answers_only = found.groups() if found else (None, None)
    return answers_only is None, periods is None, int(periods or 0)
