"""Runs tasks side by side with joblib and hands their results back in the order of submission."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import resource_tracker
from types import GeneratorType, TracebackType
from typing import Any, Protocol, Self, TypeVar

from evolve.beside import Threads, beside_here
from evolve.crew import Crew
from evolve.gym.bounds import Bounds, bound_user
from evolve.gym.rollout import Span, World, live
from evolve.gym.users import User
from evolve.interrupt import SIGNALS
from evolve.lm.models import ModelSpec, make_lm
from feedback.records import Rollout, Usage
from policies.errors import LostProcessError, OutsideFailureError, TooManyFailuresError
from policies.policy import Policy

Result = TypeVar("Result")
_QUIET = "ignore:resource_tracker"
_ENDED = (
    "A run's processes must live as long as it does, but one was ended from outside, most often "
    "for lack of memory, and one more when its rollouts were run again; resume the run, with fewer "
    "--jobs if memory is short."
)


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """What a worker needs to build its world: models by name, since processes share no objects.

    Attributes:
        model: The assistant's model.
        user_model: The model that plays the user.
        seed: Of the run.
        first_rounds: Rounds of a session in the first period.
        later_rounds: Rounds of a session in later periods.
    """

    model: ModelSpec
    user_model: ModelSpec
    seed: int
    first_rounds: int
    later_rounds: int

    def build(self) -> World:
        """The world, with its models made in this process."""
        rounds = self.first_rounds, self.later_rounds
        return World(
            make_lm(self.model), make_lm(self.user_model), self.seed, *rounds, beside_here()
        )


@dataclass(frozen=True, slots=True)
class LiveTask:
    """One rollout to live.

    One that fails for outside reasons is lived once more, and counted once: what was answered
    before the failure need not be paid again, as it is in the request cache.
    """

    spec: WorldSpec
    policy: Policy
    user: User
    span: Span

    def __call__(self) -> Rollout:
        """Live it."""
        world = self.spec.build()
        rollout = live(self.policy, self.user, world, self.span)
        if rollout.failure_kind == "outside":
            rollout = live(self.policy, self.user, world, self.span)
        return rollout


@dataclass(frozen=True, slots=True)
class BoundTask:
    """The upper bounds of one user."""

    spec: WorldSpec
    user: User

    def __call__(self) -> tuple[Bounds, tuple[tuple[str, Usage], ...]]:
        """Ask for them, and once more after a failure.

        Raises:
            TooManyFailuresError: They cannot be had for outside reasons.
        """
        world = self.spec.build()
        try:
            return bound_user(self.user, world.lm, world.seed, world.beside)
        except OutsideFailureError:
            pass
        try:
            return bound_user(self.user, world.lm, world.seed, world.beside)
        except OutsideFailureError as error:
            raise TooManyFailuresError(
                "Memory scores need the upper bounds of every user, but asking for those of "
                f"{self.user.id} failed twice ({error}); mend the cause, then resume the run."
            ) from error


class Workers(Protocol):
    """Runs tasks and yields one result per task, in their order, once it and all before are done.

    ``run`` takes tasks one by one as it has room for them, so an iterable that ends early starts no
    more; what was started is yielded all the same. Tasks are independent and picklable; what a task
    raises is raised with its result or sooner, and ends the run.
    """

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks."""


class HereWorkers:
    """Runs tasks one after the other in this process."""

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks."""
        for task in tasks:
            yield task()


class ThreadWorkers:
    """Runs tasks in threads, which suits those that wait for a model elsewhere.

    The calls of a task that need not wait for each other are made side by side, too, in a pool that
    all tasks share. How many calls there are at once is the model's affair: the threads only wait.

    Args:
        concurrency: Most tasks at once, at least 2 of them, and as many calls beside them.
    """

    def __init__(self, concurrency: int) -> None:
        # A single one is run by joblib in this thread, and before its result is asked for.
        self._tasks = max(2, concurrency)
        self._calls = Threads(concurrency)
        self._running: Generator[Any, None, None] | None = None

    def __enter__(self) -> Self:
        """Threads start as they are needed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what is still running, soon."""
        self._give_up()
        self._calls.close()

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks; when it is left early, what runs is ended first, at its next calls."""
        self._give_up()
        self._running = running = self._run(tasks)
        return running

    def _run(self, tasks: Iterable[Callable[[], Result]]) -> Generator[Result, None, None]:
        from joblib import Parallel, delayed

        crew, waiting = Crew(self._calls), iter(tasks)
        # As many as would be dispatched at once; where there are fewer, so are the threads.
        first = list(islice(waiting, self._tasks + 1))
        threads = max(2, min(self._tasks, len(first)))
        results = Parallel(
            n_jobs=threads,
            backend="threading",
            return_as="generator",
            batch_size=1,
            pre_dispatch=threads + 1,
        )(delayed(crew)(task) for task in chain(first, waiting))
        try:
            # Not `yield from`, which would hand an early end on before the crew knows of it.
            for result in results:  # noqa: UP028
                yield result
        finally:
            with no_warnings():
                results.close()
            crew.leave()

    def _give_up(self) -> None:
        """End what an earlier run is still doing."""
        if self._running is not None:
            self._running.close()


class ProcessWorkers:
    """Runs tasks in a pool of processes, which starts with the first task and ends on leaving.

    The processes leave Ctrl-C and SIGTERM to this one, which ends at a safe point, and end by
    themselves soon after it, however it ended.

    Args:
        jobs: Number of processes, at least 2.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._running: GeneratorType[Any, None, None] | None = None

    def __enter__(self) -> Self:
        """Nothing to start yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the pool, without waiting for tasks whose results nobody took."""
        if self._running is None:
            return
        from joblib.externals.loky import get_reusable_executor

        executor = get_reusable_executor(self._jobs, reuse=True)
        given_up = self._running.gi_frame is not None
        if given_up:
            # A task that ends just now would start the next one and tell at length that it cannot.
            logging.getLogger("concurrent.futures").disabled = True
        with no_warnings():
            executor.shutdown(wait=True, kill_workers=given_up)
        self._give_up()

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks; those that are lost with a process are run once more, in a new pool.

        Raises:
            LostProcessError: A process was ended from outside when that had happened to one of the
                same tasks before.
        """
        from concurrent.futures.process import BrokenProcessPool

        waiting, taken, twice = iter(tasks), deque[Callable[[], Result]](), 0
        for first in waiting:
            lost: Iterable[Callable[[], Result]] = (first,)
            while lost:
                self._give_up()
                self._running = self._start(_noted(chain(lost, waiting), taken))
                lost = ()
                try:
                    for result in self._running:
                        yield result
                        taken.popleft()
                        twice -= 1
                except BrokenProcessPool as error:
                    if twice > 0:
                        raise LostProcessError(_ENDED) from error
                    lost, twice = tuple(taken), len(taken)
                    taken.clear()

    def _give_up(self) -> None:
        """Leave what the pool is still doing of an earlier run."""
        if self._running is not None:
            with no_warnings():
                self._running.close()

    def _start(self, tasks: Iterable[Callable[[], Result]]) -> GeneratorType[Result, None, None]:
        """Results to come of tasks of which the first have been handed to the pool."""
        from joblib import Parallel, delayed, parallel_config

        calls = (delayed(_run)(task) for task in tasks)
        # Where the run is ended at once, those who clean up after it need not say so.
        quiet = os.environ.get("PYTHONWARNINGS", "").split(",")
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, dict.fromkeys([*quiet, _QUIET])))
        resource_tracker.ensure_running()  # starting it later would unblock again
        # The processes, and the thread that replaces them, inherit what is blocked here.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            with parallel_config(
                backend="loky",
                inner_max_num_threads=1,
                initializer=_follow,
                initargs=(os.getpid(),),
            ):
                results: GeneratorType[Result, None, None] = Parallel(
                    n_jobs=self._jobs,
                    return_as="generator",
                    batch_size=1,
                    pre_dispatch=self._jobs + 1,
                    max_nbytes=None,
                )(calls)
            return results
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(task: Callable[[], Result]) -> Result:
    return task()


def _noted(
    tasks: Iterable[Callable[[], Result]], taken: deque[Callable[[], Result]]
) -> Iterator[Callable[[], Result]]:
    """Tasks as they are taken, each noted."""
    for task in tasks:
        taken.append(task)
        yield task


@contextmanager
def no_warnings() -> Iterator[None]:
    """Without those of joblib, which takes tasks that are given up for an oversight."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _follow(parent: int) -> None:
    """In a worker: leave signals to the process that started it, and end soon after that has."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with suppress(ImportError):
        # It comes with bm25s; its lock between processes would outlive one that is killed.
        from tqdm import tqdm  # type: ignore[import-untyped]

        tqdm.set_lock(threading.RLock())

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
