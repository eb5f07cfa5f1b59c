"""Tasks that run in processes elsewhere: models are made there, and what they cost comes home.

A process elsewhere has none of this one's objects, and perhaps none of its disks. It makes its own
connection from the terms of the run, with keys from its own environment, and every result brings
along what was paid for it. So this process stays the only one that writes to the run's folder.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar, cast

from evolve.beside import Threads, making_calls
from evolve.lm.limits import Limits
from evolve.lm.models import Connection, forget, using
from evolve.lm.prefix import Prefixes
from evolve.lm.slips import Slip, SlipLog
from evolve.workers import Workers
from policies.errors import MnemotuneError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a process elsewhere calls real models.

    Attributes:
        run: Tells runs apart, which may use the same processes.
        concurrency: Calls in flight.
        cache: Folder of replies that several runs share, used where it is there; None for none.
    """

    run: str
    concurrency: int
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class Brought(Generic[Result]):
    """What a task brings home: its result or its error, and what was paid in its process."""

    result: Result | None = None
    error: Exception | None = None
    slip: Slip = field(default_factory=Slip)


@dataclass(frozen=True, slots=True)
class Away(Generic[Result]):
    """A task and the terms that it is done on.

    Attributes:
        task: What is done.
        terms: None where no real model is called.
    """

    task: Callable[[], Result]
    terms: Terms | None

    def __call__(self) -> Brought[Result]:
        """Do it; never raises what the task does."""
        if self.terms is None:
            return _outcome(self.task)
        with _desk_of(self.terms) as desk:
            found = _outcome(self.task)
            return Brought(found.result, found.error, desk.slip())


class AwayWorkers:
    """Workers elsewhere, whose tasks are sent out on terms and whose payments come home.

    Args:
        workers: Run the tasks.
        terms: Of the run.
        connection: Of this process, which counts what was paid.
    """

    def __init__(self, workers: Workers, terms: Terms, connection: Connection | None) -> None:
        self._workers = workers
        self._terms = terms
        self._connection = connection

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks."""
        away = (Away(task, self._terms) for task in tasks)
        return home(self._workers.run(away), self._connection)


def home(
    results: Iterable[Brought[Result]], connection: Connection | None
) -> Generator[Result, None, None]:
    """Results of tasks that were away, each once what was paid for it is in the log.

    Raises:
        Exception: What a task raised.
        RunFolderError: The disk refused the log.
    """
    for brought in results:
        if connection is not None:
            connection.log.bring(brought.slip.calls, brought.slip.cached)
            connection.prefixes.add(brought.slip.prefixes)
        if brought.error is not None:
            raise brought.error
        yield cast(Result, brought.result)


def _outcome(task: Callable[[], Result]) -> Brought[Result]:
    try:
        return Brought(task())
    except MnemotuneError as error:
        return Brought(error=error)
    except Exception as error:
        # Where it was raised does not travel with it.
        error.add_note(traceback.format_exc())
        return Brought(error=error)


class _Desk:
    """What the tasks of one run share in this process."""

    def __init__(self, terms: Terms) -> None:
        cache = terms.cache if terms.cache is not None and terms.cache.is_dir() else None
        self._log = SlipLog(cache)
        self.connection = Connection(self._log, Limits(terms.concurrency), Prefixes())
        self.calls = Threads(terms.concurrency)
        self.busy = 0

    def slip(self) -> Slip:
        """What was paid since the last one, by whichever task."""
        return Slip(*self._log.take(), self.connection.prefixes.take())

    def close(self) -> None:
        """End it; no task may be at it any more."""
        forget(self.connection)
        self.calls.close()
        self._log.close()


_lock = threading.Lock()
_desks: dict[Terms, _Desk] = {}


@contextmanager
def _desk_of(terms: Terms) -> Iterator[_Desk]:
    """The desk of a run, at which the tasks of this thread make their models while it is entered.

    Those of other runs go when nobody is at them: a worker may live through many.
    """
    with _lock:
        if terms not in _desks:
            for other in [other for other, desk in _desks.items() if not desk.busy]:
                _desks.pop(other).close()
            _desks[terms] = _Desk(terms)
        desk = _desks[terms]
        desk.busy += 1
    try:
        with using(desk.connection), making_calls(desk.calls):
            yield desk
    finally:
        with _lock:
            desk.busy -= 1
