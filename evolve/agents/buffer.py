"""The short-term buffer: messages that stay in context until the policy's numbers say to write."""

from __future__ import annotations

from collections.abc import Sequence

from feedback.records import ChatMessage


class Buffer:
    """Messages in order; the newest stay in context, unwritten.

    When the buffer holds ``write_every + local_window`` messages, the oldest ``write_every`` leave
    it as one batch. Nothing is flushed at the end of a session or period.

    Args:
        write_every: Messages per batch.
        local_window: Messages that stay.
    """

    def __init__(self, write_every: int, local_window: int) -> None:
        self._write_every = write_every
        self._local_window = local_window
        self._messages: list[ChatMessage] = []

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        """What is in context now, oldest first."""
        return tuple(self._messages)

    def push(self, messages: Sequence[ChatMessage]) -> list[tuple[ChatMessage, ...]]:
        """Add messages and return the batches that are due, oldest first."""
        batches = []
        for message in messages:
            self._messages.append(message)
            if len(self._messages) >= self._write_every + self._local_window:
                batches.append(tuple(self._messages[: self._write_every]))
                del self._messages[: self._write_every]
        return batches
