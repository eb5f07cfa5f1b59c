"""Counts what passes through a model, per role."""

from __future__ import annotations

from evolve.lm.base import LM, Completion, Request
from feedback.records import Usage


class Meter:
    """An LM that counts; one per rollout, so that concurrency cannot mix counts.

    Args:
        lm: The model that answers.
    """

    def __init__(self, lm: LM) -> None:
        self._lm = lm
        self._spent: dict[str, Usage] = {}

    @property
    def name(self) -> str:
        """The model's name."""
        return self._lm.name

    @property
    def usage(self) -> tuple[tuple[str, Usage], ...]:
        """(role, usage) sorted by role."""
        return tuple(sorted(self._spent.items()))

    def reset(self) -> None:
        """Count from zero again."""
        self._spent.clear()

    def complete(self, request: Request) -> Completion:
        """Answer one request and count it."""
        done = self._lm.complete(request)
        one = Usage(1, done.prompt_tokens, done.completion_tokens)
        self._spent[request.task] = self._spent.get(request.task, Usage()) + one
        return done


def add_usage(
    one: tuple[tuple[str, Usage], ...], other: tuple[tuple[str, Usage], ...]
) -> tuple[tuple[str, Usage], ...]:
    """Sum of two usages by role, sorted by role."""
    total = dict(one)
    for role, usage in other:
        total[role] = total.get(role, Usage()) + usage
    return tuple(sorted(total.items()))
