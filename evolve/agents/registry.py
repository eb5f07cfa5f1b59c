"""Which agent lives by which architecture."""

from __future__ import annotations

from collections.abc import Callable

from evolve.agents.awe import awe_agent
from evolve.agents.awi import awi_agent
from evolve.agents.base import MemoryAgent
from evolve.agents.common import Speaker
from evolve.agents.native import NativeAgent
from evolve.agents.none import NoneAgent
from evolve.agents.rag import rag_agent

AGENTS: dict[str, Callable[[Speaker], MemoryAgent]] = {
    "none": NoneAgent,
    "native": NativeAgent,
    "rag": rag_agent,
    "awe": awe_agent,
    "awi": awi_agent,
}


def make_agent(speaker: Speaker) -> MemoryAgent:
    """A fresh agent for one rollout of the speaker's policy."""
    return AGENTS[speaker.policy.architecture](speaker)
