"""Workers on other machines: tasks go through joblib to a cluster that is there already.

A process that dies loses only its own tasks, which the cluster runs again, a few times at most.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from evolve.away import Away, Brought, Terms, home
from evolve.lm.models import Connection
from evolve.workers import no_warnings

Result = TypeVar("Result")


class Cluster(Protocol):
    """Runs calls in processes elsewhere."""

    def size(self) -> tuple[int, int]:
        """Processes that there are now, and how many calls they run at once."""

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Begin a call; ``LostProcessError`` in place of a result that cannot be had."""

    def drop(self) -> None:
        """End what was begun and is not done, as far as that is possible."""

    def close(self) -> None:
        """Leave the cluster, which goes on."""


class ClusterWorkers:
    """Runs tasks on a cluster, as many at once as it has room for when a run of them begins.

    Args:
        cluster: Where.
        terms: Calls in flight on all of it together; None where no real model is called.
        connection: Of this process, which counts what was paid; None likewise.
    """

    def __init__(
        self, cluster: Cluster, terms: Terms | None = None, connection: Connection | None = None
    ) -> None:
        self._cluster = cluster
        self._terms = terms
        self._connection = connection
        self._running: Generator[Any, None, None] | None = None

    def __enter__(self) -> Self:
        """The cluster is there already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave nothing running there."""
        self._give_up()

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks; when it is left early, those that run are dropped.

        Raises:
            LostProcessError: Processes died again and again, or the cluster itself.
        """
        self._give_up()
        self._running = running = self._run(tasks)
        return home(running, self._connection)

    def _run(self, tasks: Iterable[Callable[[], Result]]) -> Generator[Brought[Result], None, None]:
        from joblib import Parallel, delayed

        processes, slots = self._cluster.size()
        terms, room = self._terms, slots + 1
        if terms is not None:
            # So that all processes together never have more calls in flight than one would have.
            room = min(room, terms.concurrency)
            terms = replace(terms, concurrency=max(1, terms.concurrency // max(1, processes)))
        results = Parallel(
            n_jobs=2,  # any that is not 1, with which tasks would be run here
            backend=_backend(_Room(self._cluster, room).submit),
            return_as="generator",
            batch_size=1,
            pre_dispatch=room,
        )(delayed(_do)(Away(task, terms)) for task in tasks)
        try:
            # Not `yield from`, which would hand an early end on before the tasks are dropped.
            for result in results:  # noqa: UP028
                yield result
        finally:
            with no_warnings():
                results.close()
            self._cluster.drop()

    def _give_up(self) -> None:
        """Drop what an earlier run is still doing."""
        if self._running is not None:
            self._running.close()


class _Room:
    """So many calls at once and no more; joblib may be ahead by one.

    Args:
        cluster: Runs them.
        count: At once.
    """

    def __init__(self, cluster: Cluster, count: int) -> None:
        self._cluster = cluster
        self._free = count
        self._held: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Begin a call once there is room."""
        done: Future[Any] = Future()
        with self._lock:
            if not self._free:
                self._held.append((call, done))
                return done
            self._free -= 1
        self._begin(call, done)
        return done

    def _begin(self, call: Callable[[], Any], done: Future[Any]) -> None:
        self._cluster.submit(call).add_done_callback(lambda over: self._end(over, done))

    def _end(self, over: Future[Any], done: Future[Any]) -> None:
        with self._lock:
            held = self._held.popleft() if self._held else None
            self._free += held is None
        if held is not None:
            self._begin(*held)
        error = over.exception()
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(over.result())


def _backend(begin: Callable[[Callable[[], Any]], Future[Any]]) -> Any:
    """A cluster as joblib has it."""
    from joblib.parallel import ParallelBackendBase

    class Backend(ParallelBackendBase):  # type: ignore[misc]
        supports_retrieve_callback = True

        def effective_n_jobs(self, n_jobs: int) -> int:
            return n_jobs

        def submit(self, func: Callable[[], Any], callback: Any = None) -> Future[Any]:
            future = begin(func)
            future.add_done_callback(callback)
            return future

        def retrieve_result_callback(self, out: Future[Any]) -> Any:
            return out.result()

    return Backend()


def _do(call: Callable[[], Result]) -> Result:
    return call()
