"""What a run tells the person who watches: lines, and on a terminal a live bar below them."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from evolve.tables import Table, print_tables
from evolve.terminal import say, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

_log = logging.getLogger("evolve")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands.

    Attributes:
        generation: From 1.
        spent: Rollouts spent, those that have only begun included.
        budget: Rollouts in all.
        set_aside: Of the budget, rollouts for the final scoring.
        best: Accuracy of the best version so far on the users that it was scored on.
        stages: Its write, read and utilization failures there.
        unread: Its format failures there.
        versions: Accepted versions, the seed included.
        candidates: Candidates so far.
        policy: Id of the best version so far.
        people: Who those users are, and whether they are those of the last time: numbers of
            different users cannot be compared.
    """

    generation: int
    spent: float
    budget: int
    set_aside: float
    best: float
    stages: tuple[float, float, float]
    unread: float
    versions: int
    candidates: int
    policy: str
    people: str

    def __str__(self) -> str:
        stages = "/".join(f"{s:.2f}" for s in self.stages)
        unread = f", format {self.unread:.2f}" if self.unread else ""
        return (
            f"generation {self.generation}  best so far: accuracy {self.best:.2f}, "
            f"write/read/utilization {stages}{unread} ({self.people})  "
            f"candidates {self.candidates}, accepted {self.versions - 1}"
        )

    def budget_left(self, spent: float) -> str:
        """What is left of the budget in words, once so many rollouts are spent."""
        left = self.budget - spent
        reserved = min(left, self.set_aside)
        return f"budget left {left:.0f} of {self.budget} ({reserved:.0f} for the test)"


class Display(Protocol):
    """Shows a run; called from the loop's own thread, it never changes what happens."""

    def say(self, line: str) -> None:
        """A line that stays."""

    def standing(self, now: Standing) -> None:
        """Where the run stands now; called with every generation and verdict."""

    def progress(self, lived: float, *, replayed: bool) -> None:
        """Rollouts lived so far, those that a resumed run only reads included (``replayed``)."""

    def tables(self, tables: Sequence[Table]) -> None:
        """Tables at the end."""


class PlainDisplay:
    """Lines only: for files, pipes and CI."""

    def __init__(self) -> None:
        self._generation = 0
        self._last: tuple[float, int] | None = None

    def __enter__(self) -> Self:
        """Nothing to start."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to stop."""

    def say(self, line: str) -> None:
        """Print and log the line."""
        _log.info("%s", line)
        say(line)

    def standing(self, now: Standing) -> None:
        """Print it once a generation that cost or found something; the log follows every step."""
        _log.debug("%s", now)
        found = now.spent, now.versions
        if now.generation != self._generation and found != self._last:
            self._generation, self._last = now.generation, found
            say(f"{now}, {now.budget_left(now.spent)}")

    def progress(self, lived: float, *, replayed: bool) -> None:
        """Nothing: a line a rollout is too many."""

    def tables(self, tables: Sequence[Table]) -> None:
        """Print them."""
        say()
        print_tables(tables)
        say()


class LiveDisplay:
    """Lines above others that change: where the run stands, and the budget with the time left."""

    def __init__(self) -> None:
        from rich.live import Live

        self._now: Standing | None = None
        self._lived = 0.0
        self._pace = Pace()
        self._live = Live(get_renderable=self._render, refresh_per_second=4)  # renders at once

    def __enter__(self) -> Self:
        """Start the bar."""
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the bar."""
        self._live.stop()

    def say(self, line: str) -> None:
        """Print the line above the bar and log it."""
        _log.info("%s", line)
        self._live.console.print(visible(line), markup=False, highlight=False, soft_wrap=True)

    def standing(self, now: Standing) -> None:
        """Change the upper line."""
        _log.debug("%s", now)
        self._now = now

    def progress(self, lived: float, *, replayed: bool) -> None:
        """Move the bar."""
        self._lived = lived
        self._pace.add(lived, time.monotonic(), replayed=replayed)

    def tables(self, tables: Sequence[Table]) -> None:
        """Print them in place of the bar."""
        self._now = None
        self._live.stop()
        say()
        print_tables(tables)
        say()

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table as Grid
        from rich.text import Text

        now = self._now
        if now is None:
            return Text("")
        left = now.budget - self._lived
        grid = Grid.grid(padding=(0, 1))
        grid.add_row(
            ProgressBar(total=now.budget, completed=self._lived, width=16),
            Text(now.budget_left(self._lived)),
            Text(f"time left {_clock(self._pace.seconds(left))}"),
        )
        return Group(Text(str(now)), grid)


class Pace:
    """How fast a run lives rollouts, from those that it lives itself."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None
        self._last = (0.0, 0.0)

    def add(self, lived: float, at: float, *, replayed: bool) -> None:
        """Take note of rollouts lived so far, at a time in seconds; replayed ones set the start."""
        if replayed or self._first is None:
            self._first = (lived, at)
        self._last = (lived, at)

    def seconds(self, rollouts: float) -> float | None:
        """How long so many more would take; None while that cannot be said."""
        if self._first is None or self._last[0] <= self._first[0]:
            return None
        lived, took = (b - a for a, b in zip(self._first, self._last, strict=True))
        return rollouts * took / lived


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def make_display() -> AbstractContextManager[Display]:
    """A live display on a terminal, a plain one elsewhere."""
    return LiveDisplay() if sys.stdout.isatty() else PlainDisplay()
