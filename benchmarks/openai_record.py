"""What a server of the chat API has seen."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from benchmarks.openai_bodies import Response
from evolve.lm.base import Request

_WORDS, _OPENINGS = 6, 20  # words of a prompt's opening, and openings of a role, that are kept


@dataclass(frozen=True, slots=True)
class Record:
    """What a server has seen.

    Attributes:
        requests: Completions that were asked for.
        statuses: HTTP status to count; 0 for no answer.
        faults: Fault to count.
        roles: Role to count, of what was answered.
        openings: Role to the first words of its prompts.
        peak: Most requests in flight at once.
        seconds: Time that the offline model took, other threads in between included.
    """

    requests: int
    statuses: dict[int, int]
    faults: dict[str, int]
    roles: dict[str, int]
    openings: dict[str, tuple[str, ...]]
    peak: int
    seconds: float


class Tally:
    """Counts while a server works, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._statuses: Counter[int] = Counter()
        self._faults: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()
        self._openings: dict[str, set[str]] = {}
        self._in_flight = self._peak = 0
        self._seconds = 0.0

    def begin(self) -> None:
        """A request has arrived."""
        with self._lock:
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)

    def end(self, response: Response) -> None:
        """A request was answered, or left without an answer."""
        with self._lock:
            self._in_flight -= 1
            self._statuses[response.status] += 1
            if response.fault is not None:
                self._faults[response.fault] += 1

    def played(self, request: Request, seconds: float) -> None:
        """The model has played a role, in so many seconds."""
        opening = " ".join(request.messages[0].content.split()[:_WORDS])
        with self._lock:
            self._seconds += seconds
            self._roles[request.task] += 1
            openings = self._openings.setdefault(request.task, set())
            if len(openings) < _OPENINGS:
                openings.add(opening)

    def record(self) -> Record:
        """What was seen so far."""
        with self._lock:
            return Record(
                requests=sum(self._statuses.values()) + self._in_flight,
                statuses=dict(sorted(self._statuses.items())),
                faults=dict(sorted(self._faults.items())),
                roles=dict(sorted(self._roles.items())),
                openings={name: tuple(sorted(of)) for name, of in sorted(self._openings.items())},
                peak=self._peak,
                seconds=self._seconds,
            )
