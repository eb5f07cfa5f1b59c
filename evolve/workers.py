"""Runs tasks side by side with joblib and hands their results back in the order of submission."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from evolve.gym.bounds import Bounds, bound_user
from evolve.gym.rollout import Span, World, live
from evolve.gym.users import User
from evolve.lm.base import LM
from evolve.lm.offline import OfflineLM
from feedback.records import Rollout, Usage
from policies.policy import Policy

Result = TypeVar("Result")


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
    """Runs tasks; ``run`` yields one result per task, in order, once it and all before are done.

    Tasks are independent and picklable; what a task raises is raised where its result is due.
    """

    def run(self, tasks: Sequence[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks."""


class HereWorkers:
    """Runs tasks one after the other in this process."""

    def run(self, tasks: Sequence[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks."""
        for task in tasks:
            yield task()


class ProcessWorkers:
    """Runs tasks in a pool of processes, kept until closed.

    Args:
        jobs: Number of processes.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._parallel: Any = None

    def __enter__(self) -> Self:
        """Start the pool."""
        from joblib import Parallel, parallel_config

        # The pool inherits that Ctrl-C is ignored: it is this process that ends at a safe point.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with parallel_config(backend="loky", inner_max_num_threads=1):
                self._parallel = Parallel(n_jobs=self._jobs, return_as="generator")
            self._parallel.__enter__()
            for _ in self._parallel(_call(_Warm()) for _ in range(self._jobs)):
                pass
        finally:
            signal.signal(signal.SIGINT, before)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the pool."""
        self._parallel.__exit__(kind, error, trace)
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True, kill_workers=kind is not None)

    def run(self, tasks: Sequence[Callable[[], Result]]) -> Iterator[Result]:
        """Run all tasks."""
        return iter(self._parallel(_call(task) for task in tasks))


def make_lm(model: str) -> LM:
    """The model of a name."""
    if model == "offline":
        return OfflineLM()
    raise ValueError(f"no such model: {model}")


def _call(task: Callable[[], Result]) -> Any:
    from joblib import delayed

    return delayed(_run)(task)


def _run(task: Callable[[], Result]) -> Result:
    return task()


class _Warm:
    """Starts a worker before there is anything to do."""

    def __call__(self) -> None:
        return None
