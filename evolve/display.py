"""What a run tells the person who watches: lines, and on a terminal a live bar besides."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from evolve.tables import Table, print_tables

_log = logging.getLogger("evolve")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands.

    Attributes:
        generation: From 1.
        spent: Rollouts spent.
        budget: Rollouts in all.
        best: Accuracy of the best version so far on the clusters that speak for it, or None.
        stages: Write, read and utilization failures of the current parent, or None.
        versions: Accepted versions, the seed included.
        candidates: Candidates so far.
    """

    generation: int
    spent: float
    budget: int
    best: float | None
    stages: tuple[float, float, float] | None
    versions: int
    candidates: int

    def __str__(self) -> str:
        best = "-" if self.best is None else f"{self.best:.3f}"
        stages = "-" if self.stages is None else "/".join(f"{s:.2f}" for s in self.stages)
        return (
            f"generation {self.generation}  best {best}  write/read/utilization {stages}  "
            f"versions {self.versions}  candidates {self.candidates}"
        )


class Display(Protocol):
    """Shows a run; called from the loop's own thread, it never changes what happens."""

    def say(self, line: str) -> None:
        """A line that stays."""

    def standing(self, now: Standing) -> None:
        """Where the run stands now; called often."""

    def tables(self, tables: Sequence[Table]) -> None:
        """Tables at the end."""


class PlainDisplay:
    """Lines only: for files, pipes and CI."""

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
        print(line, flush=True)

    def standing(self, now: Standing) -> None:
        """Only the log follows every step."""
        _log.debug("%s  spent %.1f of %d", now, now.spent, now.budget)

    def tables(self, tables: Sequence[Table]) -> None:
        """Print them."""
        print()
        print_tables(tables)
        print(flush=True)


class LiveDisplay:
    """Lines above a bar with the budget, the time left and where the run stands."""

    def __init__(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("rollouts, left"),
            TimeRemainingColumn(),
        )
        self._task: Any = None

    def __enter__(self) -> Self:
        """Start the bar."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the bar."""
        self._progress.stop()

    def say(self, line: str) -> None:
        """Print the line above the bar and log it."""
        _log.info("%s", line)
        self._progress.console.print(line, markup=False, highlight=False)

    def standing(self, now: Standing) -> None:
        """Move the bar."""
        _log.debug("%s  spent %.1f of %d", now, now.spent, now.budget)
        if self._task is None:
            self._task = self._progress.add_task("", total=now.budget)
        self._progress.update(self._task, completed=round(now.spent), description=str(now))

    def tables(self, tables: Sequence[Table]) -> None:
        """Print them below."""
        self._progress.stop()
        print()
        print_tables(tables)
        print(flush=True)


def make_display() -> AbstractContextManager[Display]:
    """A live display on a terminal, a plain one elsewhere."""
    return LiveDisplay() if sys.stdout.isatty() else PlainDisplay()
