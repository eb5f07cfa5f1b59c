"""Runs tasks side by side with joblib and hands their results back in the order of submission."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from multiprocessing import resource_tracker
from types import GeneratorType, TracebackType
from typing import Any, Protocol, Self, TypeVar

from evolve.gym.bounds import Bounds, bound_user
from evolve.gym.rollout import Span, World, live
from evolve.gym.users import User
from evolve.interrupt import SIGNALS
from evolve.lm.base import LM
from evolve.lm.offline import OfflineLM
from feedback.records import Rollout, Usage
from policies.errors import LostProcessError
from policies.policy import Policy

Result = TypeVar("Result")
_QUIET = "ignore:resource_tracker"


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """What a worker needs to build its world: models by name, since processes share no objects.

    Attributes:
        model: Name of the assistant's model; it plays the user, too.
        seed: Of the run.
        first_rounds: Rounds of a session in the first period.
        later_rounds: Rounds of a session in later periods.
    """

    model: str
    seed: int
    first_rounds: int
    later_rounds: int

    def build(self) -> World:
        """The world, with its models made in this process."""
        lm = make_lm(self.model)
        return World(lm, lm, self.seed, self.first_rounds, self.later_rounds)


@dataclass(frozen=True, slots=True)
class LiveTask:
    """One rollout to live."""

    spec: WorldSpec
    policy: Policy
    user: User
    span: Span

    def __call__(self) -> Rollout:
        """Live it."""
        return live(self.policy, self.user, self.spec.build(), self.span)


@dataclass(frozen=True, slots=True)
class BoundTask:
    """The upper bounds of one user."""

    spec: WorldSpec
    user: User

    def __call__(self) -> tuple[Bounds, tuple[tuple[str, Usage], ...]]:
        """Ask for them."""
        return bound_user(self.user, make_lm(self.spec.model), self.spec.seed)


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
        with _no_warnings():
            executor.shutdown(wait=True, kill_workers=given_up)
        self._give_up()

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks.

        Raises:
            LostProcessError: One of the processes was ended from outside.
        """
        from concurrent.futures.process import BrokenProcessPool

        waiting = iter(tasks)
        for first in waiting:
            self._give_up()
            self._running = self._start(chain((first,), waiting))
            try:
                # Not `yield from`: what is left on an error is given up on leaving, in one place.
                for result in self._running:  # noqa: UP028
                    yield result
            except BrokenProcessPool as error:
                raise LostProcessError(
                    "A run's processes must live as long as it does, but one was ended from "
                    "outside, most often for lack of memory; resume the run, with fewer --jobs if "
                    "memory is short."
                ) from error

    def _give_up(self) -> None:
        """Leave what the pool is still doing of an earlier run."""
        if self._running is not None:
            with _no_warnings():
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


def make_lm(model: str) -> LM:
    """The model of a name."""
    if model == "offline":
        return OfflineLM()
    raise ValueError(f"no such model: {model}")


def _run(task: Callable[[], Result]) -> Result:
    return task()


@contextmanager
def _no_warnings() -> Iterator[None]:
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
