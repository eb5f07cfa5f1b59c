"""What a store with retrieval shows: the best entries for a query, in the policy's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from evolve.agents.retrieve import Retriever
from evolve.agents.store import Store
from feedback.records import Entry


class Recall:
    """Retrieval from a store by the settings top_k, retriever, recency_half_life, memory_order."""

    def __init__(self, store: Store, settings: Mapping[str, int | str | bool | None]) -> None:
        self._store = store
        self._top_k = cast(int, settings["top_k"])
        self._by_time = settings["memory_order"] == "time"
        half_life = cast("int | None", settings["recency_half_life"])
        self._retriever = Retriever(str(settings["retriever"]), half_life)
        self._live: tuple[Entry, ...] = ()
        self._version = -1

    def shown(self, query: str, session: int) -> tuple[Entry, ...]:
        """Entries for a query; by time means oldest first, by relevance best first."""
        if self._version != self._store.version:
            self._live, self._version = self._store.live, self._store.version
        best = self._retriever.rank(query, self._live, session, self._top_k)
        return tuple(sorted(best, key=lambda entry: entry.id)) if self._by_time else best
