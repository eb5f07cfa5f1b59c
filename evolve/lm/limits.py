"""What all calls of a process share: places in flight, waiting, trying again, an allowance.

The one place that tries again. A call is tried anew only after its last try has ended, never beside
it. Jitter is drawn from the clock's own randomness: it decides when, never what.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from evolve.lm.allowance import Allowance
from policies.errors import ModelError, OutsideFailureError

if TYPE_CHECKING:
    from tenacity import RetryCallState

Result = TypeVar("Result")

_log = logging.getLogger("evolve.lm")  # whose warnings come to stderr, in a run and without one
TOLD_EVERY = 10.0  # seconds at least between two lines that calls are tried again
FIRST_WAIT = 0.5  # seconds before the second try, doubled from try to try
LONGEST_WAIT = 30.0  # seconds between two tries, unless the provider asks for more
LONGEST_ASKED = 300.0  # seconds that a provider may ask to wait; more is a failure
MOST_WAITED = 600.0  # seconds that one call may be put off in all
# Most often an address that was mistyped: told soon.
UNREACHABLE_TRIES, UNREACHABLE_SECONDS = 3, 3.0
# Waiting its turn is no failure of a call, so it may be sent away more often than it may fail.
LIMITED_TRIES = 4


class PassingError(OutsideFailureError):
    """One try failed in a way that may pass; it never leaves ``Limits.call``.

    Attributes:
        limited: Whether the provider asked for fewer calls.
        retry_after: Seconds that it asked to wait, if it did.
        unreachable: What to tell the user if no try ever reached a server; None if one was reached.
    """

    def __init__(
        self,
        reason: str,
        *,
        limited: bool = False,
        retry_after: float | None = None,
        unreachable: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.limited = limited
        self.retry_after = retry_after
        self.unreachable = unreachable


@dataclass
class _Gate:
    """Lets the first call of a model through alone."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: bool = False
    refused: str | None = None  # why no call of this model can succeed


class Limits:
    """Shared by all models of a process.

    Args:
        concurrency: Most calls in flight.
        attempts: Most tries of one call; ``LIMITED_TRIES`` times as many where the provider only
            asks for fewer calls.
        allowance: What may be spent; None for any. Can be set later.

    Attributes:
        allowance: As above.
        retries: Tries beyond the first, of all calls.
    """

    def __init__(
        self, concurrency: int = 16, attempts: int = 6, allowance: Allowance | None = None
    ) -> None:
        self.allowance = Allowance() if allowance is None else allowance
        self.retries = 0
        self._attempts = attempts
        self._slots = threading.Semaphore(concurrency)
        self._gates: dict[str, _Gate] = {}
        self._lock = threading.Lock()
        self._go_on = 0.0  # monotonic: nobody sends before
        self._set_at = 0.0  # monotonic: when that was last put off
        self._limited_in_a_row = 0
        self._told_at: float | None = None  # monotonic: when trying again was last told

    def call(self, model: str, send: Callable[[], Result]) -> Result:
        """Send a call when its turn has come, and again while its failure may pass.

        The first call of a model goes alone, its later tries included. If it shows that no call can
        succeed, the others of that model are never sent.

        Args:
            model: What shares a key and an address.
            send: One try; raises ``PassingError`` for a failure that may pass.

        Raises:
            ModelError: No call of this model can succeed.
            BudgetExhaustedError: No call or no time is left for another try.
            OutsideFailureError: The last try failed, too.
            MnemotuneError: Whatever else ``send`` raises, which is not tried again.
        """
        with self._lock:
            gate = self._gates.setdefault(model, _Gate())
        if not gate.opened:
            with gate.lock:
                if not gate.opened:
                    return self._first(gate, send)
        return self._try(gate, send)

    def _first(self, gate: _Gate, send: Callable[[], Result]) -> Result:
        try:
            return self._try(gate, send)
        finally:
            gate.opened = gate.refused is None

    def _try(self, gate: _Gate, send: Callable[[], Result]) -> Result:
        if gate.refused is not None:
            raise ModelError(gate.refused)
        failure: Exception
        try:
            return self._until_done(gate, send)
        except ModelError as error:
            gate.refused = str(error)
            raise
        except PassingError as error:
            if error.retry_after is not None and error.retry_after > LONGEST_ASKED:
                failure = OutsideFailureError(
                    f"{error}, and the provider asks to wait {error.retry_after:g} s, which is "
                    f"more than the {LONGEST_ASKED:g} s that are waited for"
                )
            elif error.unreachable is None or gate.opened:
                failure = OutsideFailureError(f"{error}, and tried again in vain")
            else:
                gate.refused = error.unreachable
                failure = ModelError(error.unreachable)
        raise failure

    def _until_done(self, gate: _Gate, send: Callable[[], Result]) -> Result:
        from tenacity import Retrying, retry_if_exception_type

        tries = _Tries(self._attempts, hopeless=not gate.opened)

        def again(state: RetryCallState) -> None:
            self._count_retry(state)
            error = _failure(state)
            if gate.opened or error.unreachable is None:  # else the run is about to end with it
                self._tell(error)

        trying = Retrying(
            retry=retry_if_exception_type(PassingError),
            stop=lambda state: tries.stop(_failure(state)),
            wait=lambda state: tries.wait(_failure(state)),
            before_sleep=again,
            reraise=True,
        )
        result: Result = trying(self._once, send)
        return result

    def _count_retry(self, state: RetryCallState) -> None:
        self.allowance.check_time(state.next_action.sleep if state.next_action else 0.0)
        with self._lock:
            self.retries += 1

    def _tell(self, error: PassingError) -> None:
        """Say that calls are tried again, and why, but not too often; reasons hold no keys."""
        with self._lock:
            now, told_at = time.monotonic(), self._told_at
            if told_at is not None and now - told_at < TOLD_EVERY:
                return
            self._told_at, retries = now, self.retries
        _log.warning("calls are tried again: %s (retries so far: %d)", error, retries)

    def _once(self, send: Callable[[], Result]) -> Result:
        with self._turn():
            self.allowance.take_call()
            began = time.monotonic()
            try:
                result = send()
            except PassingError as error:
                if error.limited or error.retry_after is not None:
                    self._put_off(error.retry_after, began)
                raise
        self._limited_in_a_row = 0
        return result

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A place among the calls in flight, once nobody has to wait any more."""
        while True:
            self._wait_for_all()
            self._slots.acquire()
            if time.monotonic() >= self._go_on:
                break
            self._slots.release()
        try:
            yield
        finally:
            self._slots.release()

    def _wait_for_all(self) -> None:
        while (left := self._go_on - time.monotonic()) > 0:
            self.allowance.check_time(left)
            # Spread out, so that those who waited together do not come back together.
            time.sleep(left + random.uniform(0, min(left, 2.0) / 4))

    def _put_off(self, asked: float | None, began: float) -> None:
        """Make all calls wait: as long as was asked, else longer from time to time."""
        with self._lock:
            if asked is None:
                if began < self._set_at:
                    return  # sent before it was known; that says nothing new
                asked = _longer(self._limited_in_a_row) * random.uniform(1, 1.5)
                self._limited_in_a_row += 1
            self._set_at = time.monotonic()
            self._go_on = max(self._go_on, self._set_at + asked)


class _Tries:
    """How often one call has failed, and what follows from that.

    Args:
        attempts: Most tries.
        hopeless: Whether no call of the model was ever answered.
    """

    def __init__(self, attempts: int, *, hopeless: bool) -> None:
        self._attempts = attempts
        self._hopeless = hopeless
        self._began = time.monotonic()
        self._failed = 0
        self._limited = 0
        self._waited = 0.0

    def stop(self, error: PassingError) -> bool:
        """Count a failure; whether it was the last try."""
        if error.retry_after is not None and error.retry_after > LONGEST_ASKED:
            return True
        if error.limited or error.retry_after is not None:
            self._waited += error.retry_after or _longer(self._limited)
            if self._waited > MOST_WAITED:
                return True
        if error.limited:
            self._limited += 1
            return self._limited >= LIMITED_TRIES * self._attempts
        self._failed += 1
        if error.unreachable is not None and self._hopeless:
            over = time.monotonic() - self._began >= UNREACHABLE_SECONDS
            return over or self._failed >= UNREACHABLE_TRIES
        return self._failed >= self._attempts

    def wait(self, error: PassingError) -> float:
        """Seconds to wait before the next try."""
        if error.limited or error.retry_after is not None:
            return 0.0  # with all others, in its turn
        return _longer(self._failed - 1) * random.uniform(0.75, 1.25)


def _longer(before: int) -> float:
    """Seconds to wait after so many waits before it."""
    return min(FIRST_WAIT * float(2 ** min(before, 16)), LONGEST_WAIT)


def _failure(state: RetryCallState) -> PassingError:
    assert state.outcome is not None
    error = state.outcome.exception()
    assert isinstance(error, PassingError)
    return error
