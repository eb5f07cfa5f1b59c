"""Ctrl-C and SIGTERM: the first asks a run to stop at the next safe point, the second at once."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ASKED = (
    b"\nstopping once the rollouts that have begun are in the journal; "
    b"Ctrl-C again to stop at once\n"
)


class Interrupt:
    """Handles both signals while it is entered.

    Attributes:
        signal: The last one that came, or None.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
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
            # Not print: the signal may come while stderr is being printed to.
            with suppress(OSError):
                os.write(2, _ASKED)
            return
        # A third one ends the process without another word, wherever it may hang.
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        raise KeyboardInterrupt


def end_quietly() -> None:
    """Ignore both signals from now on: the process ends anyway, and one would only disturb that."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
