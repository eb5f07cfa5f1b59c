"""Counts what passes through a model, per role."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from evolve.lm.base import LM, Completion, Request
from feedback.records import Usage
from policies.errors import OutsideFailureError, PolicyFailureError

Value = TypeVar("Value")
Spent = tuple[tuple[str, Usage], ...]  # (role, usage) sorted by role


class Meter:
    """An LM that counts; one per rollout, so that concurrency cannot mix counts.

    Args:
        lm: The model that answers.
    """

    def __init__(self, lm: LM) -> None:
        self._lm = lm
        self._spent: Spent = ()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._lm.name

    @property
    def usage(self) -> Spent:
        """(role, usage) sorted by role."""
        return self._spent

    def reset(self) -> None:
        """Count from zero again."""
        with self._lock:
            self._spent = ()

    def add(self, spent: Spent) -> None:
        """Count what passed through another meter."""
        with self._lock:
            self._spent = add_usage(self._spent, spent)

    def complete(self, request: Request) -> Completion:
        """Answer one request and count it."""
        done = self._lm.complete(request)
        self.add(((request.task, Usage(1, done.prompt_tokens, done.completion_tokens)),))
        return done


@dataclass(frozen=True, slots=True)
class Metered(Generic[Value]):
    """What came of calls that had a meter of their own.

    Attributes:
        value: What they were made for, or the failure that ended them.
        spent: What was counted, before a failure too.
    """

    value: Value | PolicyFailureError | OutsideFailureError
    spent: Spent

    def counted(self, meter: Meter) -> Value:
        """The value, once what was spent is counted; a failure is raised."""
        meter.add(self.spent)
        if isinstance(self.value, PolicyFailureError | OutsideFailureError):
            raise self.value
        return self.value


def metered(lm: LM, call: Callable[[LM], Value]) -> Metered[Value]:
    """Make calls on a meter of their own.

    So what is made side by side can be counted in the order in which it would be made one by one,
    up to the first that failed: what is recorded does not tell which of the two it was.

    Args:
        lm: The model.
        call: Is handed the model and makes its calls; a rollout's failure is kept, other errors
            pass.
    """
    meter = Meter(lm)
    try:
        return Metered(call(meter), meter.usage)
    except (PolicyFailureError, OutsideFailureError) as failure:
        return Metered(failure, meter.usage)


def add_usage(one: Spent, other: Spent) -> Spent:
    """Sum of two usages by role, sorted by role."""
    total = dict(one)
    for role, usage in other:
        total[role] = total.get(role, Usage()) + usage
    return tuple(sorted(total.items()))
