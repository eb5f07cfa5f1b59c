"""Tasks that run in threads of one process, and how they all come to an end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from evolve.beside import Begun, SideBySide, making_calls

Result = TypeVar("Result")


class Abandoned(Exception):
    """Ends a task whose result nobody will take."""


class Crew:
    """The tasks of one run: makes their calls side by side until it is over.

    Args:
        calls: Makes them.
    """

    def __init__(self, calls: SideBySide) -> None:
        self._calls = calls
        self._changed = threading.Condition()
        self._busy = 0
        self._over = False

    def __call__(self, task: Callable[[], Result]) -> Result:
        """Run one task in this thread."""
        with self._changed:
            self._check()
            self._busy += 1
        try:
            with making_calls(self):
                return task()
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def begin(self, call: Callable[[], Result]) -> Begun[Result]:
        """Begin a call of a task."""
        self._check()
        return self._calls.begin(call)

    def leave(self) -> None:
        """Let no task begin anything more, and return once all have ended."""
        with self._changed:
            self._over = True
            self._changed.wait_for(lambda: self._busy == 0)

    def _check(self) -> None:
        if self._over:
            raise Abandoned
