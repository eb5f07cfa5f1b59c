"""What goes wrong on the way to a provider, drawn from a seed and never from the clock."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, get_args

from evolve.seeding import derive

Fault = Literal["rate_limit", "server_error", "hang", "cut", "malformed", "truncated"]
FAULTS: tuple[Fault, ...] = get_args(Fault)


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares of requests that fail, and how.

    Whether a request fails depends on what it asks and on how often it was asked before, so it is
    the same in whatever order requests arrive.

    Attributes:
        seed: Of the draws.
        rate_limit: Share answered 429, with ``retry_after``.
        server_error: Share at which a burst of 500 begins.
        hang: Share never answered; the connection is closed after ``hang_seconds``.
        cut: Share whose connection is closed without an answer.
        malformed: Share answered 200 with a body that is no completion.
        truncated: Share whose body ends half way.
        retry_after: Seconds.
        hang_seconds: Seconds.
        burst: How many times in a row the same request is answered 500.
        in_a_row: Most faults in a row that the same request meets; then it is answered.
    """

    seed: int = 0
    rate_limit: float = 0.0
    server_error: float = 0.0
    hang: float = 0.0
    cut: float = 0.0
    malformed: float = 0.0
    truncated: float = 0.0
    retry_after: float = 1.0
    hang_seconds: float = 60.0
    burst: int = 2
    in_a_row: int = 2

    def __post_init__(self) -> None:
        """Check the shares.

        Raises:
            ValueError: They exceed 1.
        """
        total = sum(self._share(name) for name in FAULTS)
        if not 0 <= total <= 1:
            raise ValueError(f"the shares of faults must be at most 1 together, not {total}")

    def fault(self, content: str, attempt: int) -> Fault | None:
        """What happens to a request.

        Args:
            content: What it asks: equal requests have equal content.
            attempt: How often it was asked before.
        """
        row, burst, found = 0, 0, None
        for number in range(attempt + 1):
            found = "server_error" if burst else self._draw(content, number)
            if found == "server_error":
                burst = (burst or self.burst) - 1
            if row == self.in_a_row:
                found, burst = None, 0
            row = row + 1 if found else 0
        return found

    def _draw(self, content: str, number: int) -> Fault | None:
        at = random.Random(derive(self.seed, "fault", content, number)).random()
        for name in FAULTS:
            at -= self._share(name)
            if at < 0:
                return name
        return None

    def _share(self, name: Fault) -> float:
        return float(getattr(self, name))
