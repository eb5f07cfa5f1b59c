"""What every memory architecture does, and what it is handed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from evolve.lm.base import Request
from feedback.records import ChatMessage, Context, Entry, Write


@dataclass(frozen=True, slots=True)
class Query:
    """One thing asked of an agent outside the conversation.

    Attributes:
        task: ``"answer"`` (the policy's answer prompt applies) or ``"probe"`` (a fixed prompt).
        rules: What holds for every query of its kind: the format of the reply.
        prompt: What is asked: question and choices, or states and their options.
        search: What a store with retrieval searches for.
        seed: The same for every policy asked the same thing.
        max_tokens: Limit of the reply; None for the usual one of its task.
    """

    task: Literal["answer", "probe"]
    rules: str
    prompt: str
    search: str
    seed: int
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """How a query is put to the model, and what of memory and conversation that shows it."""

    request: Request
    context: Context


class MemoryAgent(Protocol):
    """One assistant with memory, driven wholly by its policy; one instance per rollout.

    ``reply`` and ``prepare`` store nothing: called any number of times they leave ``entries`` as it
    was. ``observe`` alone changes memory; the rollout calls it after each round with that round's
    two messages, and a replay calls it alone. No two methods run at once. Errors of the LM pass
    through; a write whose reply cannot be read, asked once more, leaves memory as it was and is
    kept in ``writes`` with its reason.
    """

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry ever made, retired ones included, in order of id."""

    @property
    def writes(self) -> tuple[Write, ...]:
        """Every write so far, in order."""

    def reply(self, message: ChatMessage) -> str:
        """Answer the user's message within the conversation."""

    def prepare(self, query: Query) -> Prepared:
        """How to ask a question or a probe from memory as it is now; makes no call.

        So memory is read by one thread, while what it prepared is asked side by side.
        """

    def observe(self, messages: Sequence[ChatMessage]) -> None:
        """Take note of messages, in order; write to memory when the policy says so."""
