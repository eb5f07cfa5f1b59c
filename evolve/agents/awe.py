"""Architecture ``awe``: the model writes facts, an external store keeps and retrieves them."""

from __future__ import annotations

from typing import cast

from evolve.agents.common import Speaker
from evolve.agents.recall import Recall
from evolve.agents.store import Store
from evolve.agents.stored import StoreAgent
from evolve.agents.written import LabelledFacts


def awe_agent(speaker: Speaker) -> StoreAgent:
    """With ``supersede`` a new fact retires the old ones under its label; they stay as history."""
    settings = speaker.policy.settings
    store = Store(cast(int, settings["max_memory_tokens"]))
    recall = Recall(store, settings)
    facts = LabelledFacts(speaker, store, recall, "superseded" if settings["supersede"] else None)
    return StoreAgent(speaker, store, recall, facts)
