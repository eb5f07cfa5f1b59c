"""Ctrl-C and SIGTERM: the first asks a run to stop at the next safe point, the second at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOPPED = 128  # and the number of the signal, as shells show it: 130 for Ctrl-C
_ROLLOUTS = "the rollouts that have begun are in the journal"
_SHOW_CURSOR = b"\x1b[?25h"  # a live display hides it


class Interrupt:
    """Handles both signals while it is entered.

    The second one ends the process where it stands. It does not raise: an exception may come inside
    a destructor, which drops it, or in code that is not ready for it, and a journal is made to be
    left at any instruction.

    Args:
        last_word: What to say when the process is ended so; called in the handler.
        once: What the safe point waits for, in words.

    Attributes:
        signal: The last one that came, or None.
    """

    def __init__(self, last_word: Callable[[], str], once: str = _ROLLOUTS) -> None:
        self.signal: int | None = None
        self._asked_words = f"\nstopping once {once}; Ctrl-C again to stop at once\n"
        self._last_word = last_word
        self._before = dict.fromkeys(SIGNALS, signal.SIG_DFL)

    def asked(self) -> bool:
        """Whether the run was asked to stop."""
        return self.signal is not None

    def __enter__(self) -> Self:
        """Take over both signals."""
        for number in SIGNALS:
            self._before[number] = signal.signal(number, self._handle)  # type: ignore[assignment]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give both signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again = self.asked()
        self.signal = number
        if not again:
            _write(2, self._asked_words.encode())
            return
        # A third one ends the process without another word, wherever it may hang.
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        if os.isatty(1):
            _write(1, _SHOW_CURSOR)
        _write(2, f"{self._last_word()}\n".encode())
        os._exit(STOPPED + number)


def _write(stream: int, text: bytes) -> None:
    """Not print: the signal may come while the stream is being printed to."""
    with suppress(OSError):
        os.write(stream, text)


def end_quietly() -> None:
    """Ignore both signals from now on: the process ends anyway, and one would only disturb that."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
