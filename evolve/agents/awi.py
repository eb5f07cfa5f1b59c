"""Architecture ``awi``: the model keeps a dictionary of facts, all of it in context."""

from __future__ import annotations

from typing import cast

from evolve.agents.common import Speaker
from evolve.agents.store import Store
from evolve.agents.stored import StoreAgent
from evolve.agents.written import LabelledFacts
from feedback.records import Entry


def awi_agent(speaker: Speaker) -> StoreAgent:
    """One value per label: a new value under a label overwrites the old one."""
    store = Store(cast(int, speaker.policy.settings["max_memory_tokens"]))
    everything = _Everything(store)
    facts = LabelledFacts(speaker, store, everything, "overwritten")
    return StoreAgent(speaker, store, everything, facts)


class _Everything:
    """Shows the whole dictionary, whatever is asked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._live: tuple[Entry, ...] = ()
        self._version = -1

    def shown(self, query: str, session: int) -> tuple[Entry, ...]:
        """Every live entry, oldest first."""
        if self._version != self._store.version:
            self._live, self._version = self._store.live, self._store.version
        return self._live
