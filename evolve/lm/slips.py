"""What a process elsewhere paid: noted there beside its log, brought to the log of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolve.lm.call import Call
from evolve.lm.calls import CallLog


@dataclass(frozen=True, slots=True)
class Slip:
    """What was paid since the last one.

    Attributes:
        calls: That were made, or found in a shared folder.
        cached: Role to how often it was answered by an earlier call of the same process.
        prefixes: Role to bytes that were sent before in the same place, and bytes sent.
    """

    calls: tuple[Call, ...] = ()
    cached: Mapping[str, int] = field(default_factory=dict)
    prefixes: Mapping[str, tuple[int, int]] = field(default_factory=dict)


class SlipLog(CallLog):
    """A log that ends with its process and notes what it counts.

    Args:
        shared: A folder shared between runs; None for none.

    Raises:
        RunFolderError: Its file cannot be written.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._calls: list[Call] = []
        self._answered: Counter[str] = Counter()
        super().__init__(None, shared)

    def take(self) -> tuple[tuple[Call, ...], dict[str, int]]:
        """Calls, and cached replies by role, since the last time."""
        with self._lock:
            calls, answered = tuple(self._calls), dict(self._answered)
            self._calls.clear()
            self._answered.clear()
        return calls, answered

    def _count(self, call: Call) -> None:
        self._calls.append(call)
        if not call.shared:
            super()._count(call)

    def _count_cached(self, role: str) -> None:
        self._answered[role] += 1
        super()._count_cached(role)
