"""What calls may still spend: reserved before they are sent, so that a budget holds."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from policies.errors import BudgetExhaustedError, ModelError, RunFolderError


@dataclass(frozen=True, slots=True)
class Caps:
    """What may be spent; None for any.

    Attributes:
        calls: Sent to providers, every try counted.
        tokens: Read and written.
        dollars: Paid.
        deadline: Until when calls are sent, by the monotonic clock.
    """

    calls: float | None = None
    tokens: float | None = None
    dollars: float | None = None
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls cost.

    Attributes:
        tokens: Read and written.
        dollars: None if one was of an unpriced model.
    """

    tokens: int
    dollars: float | None


class Allowance:
    """Shared by all models of a process.

    A call keeps the tokens and dollars of its worst case while it is under way. Of calls every try
    is counted, in a file of one byte each that is written before the try is sent: so the count
    holds for a run that is killed and resumed, too.

    Args:
        caps: What may be spent.
        sent: The file; None to count in memory.

    Attributes:
        caps: As above; can be set later.

    Raises:
        RunFolderError: The file cannot be written.
    """

    def __init__(self, caps: Caps = Caps(), sent: Path | None = None) -> None:
        self.caps = caps
        self._sent = 0
        self._file: int | None = None
        self._path = sent
        self._lock = threading.Lock()
        self._settled = threading.Condition()
        self._reserved: list[Cost] = []
        if sent is not None:
            with _written(sent):
                self._file = os.open(sent, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                self._sent = os.fstat(self._file).st_size

    def close(self) -> None:
        """Close the file; twice is fine."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @property
    def sent(self) -> int:
        """Tries so far, before a resume included where they are counted in a file."""
        return self._sent

    @contextmanager
    def reserve(self, worst: Cost, spent: Callable[[], Cost]) -> Iterator[None]:
        """Keep what a call may cost at worst, until its cost is in ``spent``.

        While other calls may still give back what they kept, it waits for them.

        Args:
            worst: Of the call.
            spent: What all calls before have cost.

        Raises:
            BudgetExhaustedError: It would cost more than is left; nothing was sent.
            ModelError: Dollars are limited and the model is unpriced.
        """
        caps = self.caps
        if caps.tokens is None and caps.dollars is None:
            yield
            return
        if caps.dollars is not None and worst.dollars is None:
            raise ModelError(
                "A budget in dollars needs a price for every model, but LiteLLM knows none for one "
                "of this run's; give it with --price IN,OUT, or another kind of budget."
            )
        with self._settled:
            while (lack := self._lack(worst, spent())) is not None and self._reserved:
                self._settled.wait()
            if lack is not None:
                raise BudgetExhaustedError(lack)
            self._reserved.append(worst)
        try:
            yield
        finally:
            with self._settled:
                self._reserved.remove(worst)
                self._settled.notify_all()

    def check_spent(self, spent: Cost) -> None:
        """Check that what was spent and all that is kept still fit.

        Raises:
            BudgetExhaustedError: They do not; no more may be tried on what was kept.
        """
        with self._settled:
            lack = self._lack(Cost(0, 0.0), spent)
        if lack is not None:
            raise BudgetExhaustedError("a call was answered by nothing that can be read; " + lack)

    def take_call(self) -> None:
        """Count a try that is sent right after this.

        Raises:
            BudgetExhaustedError: No call or no time is left; it must not be sent.
            RunFolderError: The disk refused to count it.
        """
        self.check_time()
        with self._lock:
            if self.caps.calls is not None and self._sent >= self.caps.calls:
                raise BudgetExhaustedError(f"a call asked, 0 of {self.caps.calls:.0f} left")
            if self._file is not None and self._path is not None:
                with _written(self._path):
                    os.write(self._file, b".")
            self._sent += 1

    def check_time(self, later: float = 0.0) -> None:
        """Refuse what would be sent only after the deadline.

        Args:
            later: In so many seconds.

        Raises:
            BudgetExhaustedError: It would be.
        """
        deadline = self.caps.deadline
        if deadline is not None and time.monotonic() + later >= deadline:
            raise BudgetExhaustedError("a call asked, no time left")

    def _lack(self, worst: Cost, spent: Cost) -> str | None:
        """Why a call might exceed a cap, or None."""
        caps, kept = self.caps, self._reserved
        if caps.tokens is not None:
            left = caps.tokens - spent.tokens
            if sum(each.tokens for each in kept) + worst.tokens > left:
                return f"a call of at most {worst.tokens} tokens asked, {max(left, 0):.0f} left"
        if caps.dollars is not None:
            free, cost = caps.dollars - (spent.dollars or 0.0), worst.dollars or 0.0
            if sum(each.dollars or 0.0 for each in kept) + cost > free:
                return f"a call of at most ${cost:.4f} asked, ${max(free, 0):.4f} left"
        return None


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunFolderError(
            f"A run counts its calls in its folder, but {path} cannot be written "
            f"({error.strerror}); free space or mend the folder, then resume the run."
        ) from error
