"""Which agent lives by which architecture."""

from __future__ import annotations

from collections.abc import Callable

from evolve.agents.awe import awe_agent
from evolve.agents.awi import awi_agent
from evolve.agents.base import MemoryAgent
from evolve.agents.common import Speaker
from evolve.agents.mem0 import mem0_agent
from evolve.agents.mem0_store import check_installed
from evolve.agents.native import NativeAgent
from evolve.agents.none import NoneAgent
from evolve.agents.own import own_agent
from evolve.agents.rag import rag_agent

AGENTS: dict[str, Callable[[Speaker], MemoryAgent]] = {
    "none": NoneAgent,
    "native": NativeAgent,
    "rag": rag_agent,
    "awe": awe_agent,
    "awi": awi_agent,
    "mem0": mem0_agent,
}


def make_agent(speaker: Speaker) -> MemoryAgent:
    """A fresh agent for one rollout of the speaker's policy."""
    return AGENTS.get(speaker.policy.architecture, own_agent)(speaker)


def check_usable(architecture: str) -> None:
    """See, before anything is lived, that what an architecture needs is there.

    Raises:
        ConfigError: A package is missing.
    """
    if architecture == "mem0":
        check_installed()
