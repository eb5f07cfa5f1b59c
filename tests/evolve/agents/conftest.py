"""Conversations and agents to try architectures with."""

from collections.abc import Callable, Sequence

import pytest

from evolve.agents.base import MemoryAgent
from evolve.agents.common import Speaker
from evolve.agents.registry import make_agent
from evolve.agents.store import Batch
from feedback.records import ChatMessage
from policies.policy import seed_policy


@pytest.fixture(scope="session")
def talk() -> Callable[..., list[ChatMessage]]:
    """Makes the messages of sessions of one round each, three sessions a period."""

    def make(sessions: int, said: Sequence[str] = ()) -> list[ChatMessage]:
        messages = []
        for number in range(sessions):
            place = f"{number // 3}.{number % 3}.0"
            text = said[number] if said else f"I saw the word{number} today."
            messages += [
                ChatMessage(f"{place}.u", "user", text),
                ChatMessage(f"{place}.a", "assistant", f"That is reply{number}."),
            ]
        return messages

    return make


@pytest.fixture(scope="session")
def batch_of() -> Callable[..., Batch]:
    """Makes a batch of one message, in a session of its own."""

    def make(number: int, text: str = "hello") -> Batch:
        message = ChatMessage(f"0.{number}.0.u", "user", text)
        return Batch((message,), period=0, session=number)

    return make


@pytest.fixture(scope="session")
def agent_of() -> Callable[..., MemoryAgent]:
    """Makes an agent of an architecture's seed policy; settings that do not apply are ignored."""

    def make(architecture: str, lm: object, texts=None, **settings: object) -> MemoryAgent:
        seed = seed_policy(architecture)
        known = {name: value for name, value in settings.items() if name in seed.settings}
        return make_agent(Speaker(seed.derive(texts=texts, settings=known), lm, seed=7))

    return make
