"""Calls that need not wait for each other: begun one by one, their results taken in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Begun(Protocol[Result_co]):
    """A call that was begun."""

    def result(self) -> Result_co:
        """What it returns, once it has; what it raises is raised here."""

    def cancel(self) -> None:
        """Do not make the call if it has not truly begun."""

    def wait(self) -> None:
        """Return once the call is over or was cancelled."""


class SideBySide(Protocol):
    """Begins calls that depend on nothing but what was there when they were begun.

    A call that was begun must not begin others here: it might wait for them in their place.
    """

    def begin(self, call: Callable[[], Result]) -> Begun[Result]:
        """Begin a call; returns at once."""


@dataclass(frozen=True, slots=True)
class _Later:
    call: Callable[[], Any]

    def result(self) -> Any:
        return self.call()

    def cancel(self) -> None:
        """It begins only when its result is asked for."""

    def wait(self) -> None:
        """Nothing runs."""


class OneByOne:
    """Makes each call when its result is asked for, in the thread that asks, so once at most."""

    def begin(self, call: Callable[[], Result]) -> Begun[Result]:
        """Keep the call."""
        return _Later(call)


@dataclass(frozen=True, slots=True)
class _Running:
    future: Future[Any]

    def result(self) -> Any:
        return self.future.result()

    def cancel(self) -> None:
        self.future.cancel()

    def wait(self) -> None:
        if not self.future.cancelled():
            self.future.exception()


class Threads:
    """Makes calls in a pool of threads, started as they are needed.

    All rollouts of a process may share one: none of the calls waits for another, so that however
    many rollouts wait for theirs, none waits for ever.

    Args:
        count: Most calls at once.
    """

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="beside")

    def close(self) -> None:
        """End the threads, once they have made the calls that were begun."""
        self._pool.shutdown()

    def begin(self, call: Callable[[], Result]) -> Begun[Result]:
        """Hand the call to the pool."""
        return _Running(self._pool.submit(call))


class Together:
    """Calls begun side by side; on leaving, however, none of them is left running.

    Args:
        beside: Begins them.
    """

    def __init__(self, beside: SideBySide) -> None:
        self._beside = beside
        self._begun: list[Begun[object]] = []

    def __enter__(self) -> Self:
        """Nothing is begun yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel what has not begun, then wait for the rest."""
        for one in self._begun:
            one.cancel()
        for one in self._begun:
            one.wait()

    def begin(self, call: Callable[[], Result]) -> Begun[Result]:
        """Begin a call; returns at once."""
        begun = self._beside.begin(call)
        self._begun.append(begun)
        return begun


_here: ContextVar[SideBySide] = ContextVar("beside")
_ONE_BY_ONE = OneByOne()


def beside_here() -> SideBySide:
    """How the tasks of this thread make calls side by side; one by one where nobody said."""
    return _here.get(_ONE_BY_ONE)


@contextmanager
def making_calls(beside: SideBySide) -> Iterator[None]:
    """While entered, tasks of this thread make calls so.

    How many calls a machine may have in flight belongs to whoever runs a task, and not to the task,
    which other machines run, too.
    """
    token = _here.set(beside)
    try:
        yield
    finally:
        _here.reset(token)
