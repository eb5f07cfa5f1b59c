"""The boundary to models: one request, one completion, one protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

Task = Literal["reply", "write", "answer", "probe", "user", "bound", "rewrite", "generate", "check"]

CAPS: Mapping[Task, int] = {
    "answer": 256,
    "probe": 256,
    "bound": 256,
    "user": 256,
    "reply": 512,
    "write": 1024,
    "rewrite": 4096,  # twice the longest text that the rules allow, for markers and names
    "check": 1024,
    "generate": 4096,  # of an environment: a life of two dozen changes, or nine answers
}
"""Tokens of a reply, by who asks."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message: ``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        task: The role that asks, so that usage is counted per role.
        messages: The prompt; what never changes stands first.
        seed: From content and position (see ``evolve.seeding``), never from order of arrival.
        max_tokens: Upper limit of the completion.
        temperature: Sampling temperature.
    """

    task: Task
    messages: tuple[Message, ...]
    seed: int = 0
    max_tokens: int = 1024
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply, with what it cost; its text can be encoded as UTF-8."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class LM(Protocol):
    """A model.

    ``complete`` is called once per request, possibly from several threads. It changes nothing that
    a caller can see: the same request gives the same completion. It raises ``OutsideFailureError``
    for network and provider failures and ``PolicyFailureError`` for a prompt that cannot be used
    (too long, refused).
    """

    @property
    def name(self) -> str:
        """The model's name as the user gave it."""

    def complete(self, request: Request) -> Completion:
        """Answer one request."""


def count_tokens(text: str) -> int:
    """UTF-8 bytes / 4, rounded up: the offline measure of tokens, said to be one."""
    return -(-len(text.encode()) // 4)
