"""Architecture ``rag``: raw turns go into a store and are retrieved; no model writes."""

from __future__ import annotations

import re
from typing import cast

from evolve.agents.common import Speaker
from evolve.agents.recall import Recall
from evolve.agents.store import Batch, Store
from evolve.agents.stored import StoreAgent
from feedback.records import ChatMessage, message_position

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def rag_agent(speaker: Speaker) -> StoreAgent:
    """An agent whose entries are sentences, messages or sessions, by ``granularity``."""
    settings = speaker.policy.settings
    store = Store(cast(int, settings["max_memory_tokens"]))
    raw = RawTurns(store, str(settings["granularity"]))
    return StoreAgent(speaker, store, Recall(store, settings), raw)


class RawTurns:
    """Writes turns as they were said."""

    def __init__(self, store: Store, granularity: str) -> None:
        self._store = store
        self._granularity = granularity

    def write(self, batch: Batch) -> None:
        """Store the batch."""
        if self._granularity == "session":
            made = self._extend_sessions(batch)
        else:
            made = [
                self._store.add(batch, "", f"{message.role}: {piece}", (message.id,)).id
                for message in batch.messages
                for piece in self._pieces(message.content)
            ]
        self._store.close(batch, tuple(made))

    def _pieces(self, content: str) -> list[str]:
        pieces = [content] if self._granularity == "message" else _SENTENCE.split(content)
        return [piece for piece in pieces if piece.strip()]

    def _extend_sessions(self, batch: Batch) -> list[int]:
        # A session's entry grows: the longer one replaces it and keeps its sources.
        made = []
        sessions: dict[tuple[int, ...], list[ChatMessage]] = {}
        for message in batch.messages:
            sessions.setdefault(message_position(message.id)[:2], []).append(message)
        for place, messages in sessions.items():
            text = "\n".join(f"{m.role}: {m.content}" for m in messages)
            sources = tuple(m.id for m in messages)
            for old in self._store.live:
                if message_position(old.sources[0])[:2] == place:
                    text, sources = f"{old.text}\n{text}", (*old.sources, *sources)
                    self._store.retire(old.id, "superseded")
            made.append(self._store.add(batch, "", text, sources).id)
        return made
