"""The life of memory entries: made, retired, never deleted, so that a loss can be traced."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evolve.lm.base import count_tokens
from feedback.records import ChatMessage, Entry, Write


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages that are written together.

    Attributes:
        messages: In order.
        period: Period in which they are written, which may be after the one in which they were
            said: the newest messages stay in the window.
        session: Number, since the start of the rollout, of the session in which they are written.
    """

    messages: tuple[ChatMessage, ...]
    period: int
    session: int

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the messages."""
        return tuple(message.id for message in self.messages)


class Store:
    """All entries of one rollout.

    Args:
        max_tokens: Over it, the live entry longest without update is retired; None for no limit.
    """

    def __init__(self, max_tokens: int | None) -> None:
        self._max_tokens = max_tokens
        self._entries: list[Entry] = []
        self._live: dict[int, int] = {}  # id -> tokens, least recently updated first
        self._tokens = 0
        self._writes: list[Write] = []

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry ever made, in order of id."""
        return tuple(self._entries)

    @property
    def writes(self) -> tuple[Write, ...]:
        """Every write, in order."""
        return tuple(self._writes)

    @property
    def live(self) -> tuple[Entry, ...]:
        """Live entries, oldest first."""
        return tuple(self._entries[i] for i in sorted(self._live))

    @property
    def version(self) -> int:
        """Changes whenever the live entries do."""
        return len(self._writes)

    @property
    def tokens(self) -> int:
        """Size of live memory."""
        return self._tokens

    def add(self, batch: Batch, label: str, text: str, sources: tuple[str, ...]) -> Entry:
        """Make an entry within the write that ``close`` will record."""
        entry = Entry(
            len(self._entries), label, text, sources, len(self._writes), batch.period, batch.session
        )
        self._entries.append(entry)
        self._live[entry.id] = count_tokens(f"{label}: {text}")
        self._tokens += self._live[entry.id]
        return entry

    def retire(self, entry_id: int, because: str) -> None:
        """Take an entry out of live memory within the current write."""
        self._tokens -= self._live.pop(entry_id)
        self._entries[entry_id] = replace(
            self._entries[entry_id], retired=len(self._writes), retired_because=because
        )

    def close(self, batch: Batch, made: tuple[int, ...], format_error: str | None = None) -> None:
        """Record the write and keep memory within its limit."""
        while self._max_tokens is not None and self._tokens > self._max_tokens and self._live:
            self.retire(next(iter(self._live)), "max_memory_tokens")
        number = len(self._writes)
        self._writes.append(Write(number, batch.period, batch.ids, made, format_error))
