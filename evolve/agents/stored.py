"""An agent with a store: what it shows and how it writes are handed to it, so each varies alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from evolve.agents.base import Prepared, Query
from evolve.agents.buffer import Buffer
from evolve.agents.common import SessionCount, Speaker
from evolve.agents.store import Batch, Store
from feedback.records import ChatMessage, Entry, Write, message_position


class Shows(Protocol):
    """Chooses what of the store stands in a prompt."""

    def shown(self, query: str, session: int) -> tuple[Entry, ...]:
        """Live entries for a query, in prompt order; changes nothing."""


class Writes(Protocol):
    """Turns a batch of messages into entries."""

    def write(self, batch: Batch) -> None:
        """Write one batch to the store, as exactly one write."""


class StoreAgent:
    """A memory agent over a store.

    Args:
        speaker: Asks the model for replies and answers.
        store: Holds the entries.
        shows: What a prompt shows of it.
        writes: How a batch gets into it.
    """

    def __init__(self, speaker: Speaker, store: Store, shows: Shows, writes: Writes) -> None:
        settings = speaker.policy.settings
        self._speaker = speaker
        self._store = store
        self._shows = shows
        self._writes = writes
        self._sessions = SessionCount()
        self._buffer = Buffer(
            cast(int, settings["write_every"]), cast(int, settings["local_window"])
        )

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry ever made, in order of id."""
        return self._store.entries

    @property
    def writes(self) -> tuple[Write, ...]:
        """Every write so far, in order."""
        return self._store.writes

    def reply(self, message: ChatMessage) -> str:
        """Reply with what the message calls up."""
        shown = self._shows.shown(message.content, self._sessions.current)
        return self._speaker.reply(message, self._buffer.messages, shown)

    def prepare(self, query: Query) -> Prepared:
        """Ask with what the query calls up."""
        shown = self._shows.shown(query.search, self._sessions.current)
        return self._speaker.prepare(query, self._buffer.messages, shown)

    def observe(self, messages: Sequence[ChatMessage]) -> None:
        """Write the messages that leave the window."""
        for message in messages:
            period, session = message_position(message.id)[0], self._sessions.see(message)
            for due in self._buffer.push((message,)):
                self._writes.write(Batch(due, period, session))
