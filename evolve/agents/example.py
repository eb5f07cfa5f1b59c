"""The smallest memory system of one's own: to copy, and to try ``--agent`` with."""

from __future__ import annotations

from collections.abc import Sequence

from evolve.agents.base import Prepared, Query
from evolve.agents.common import SessionCount, Speaker
from feedback.records import ChatMessage, Entry, Write, message_position


class UserWords:
    """Keeps what the user said, and shows what has most words in common with what is asked.

    Args:
        speaker: Holds the policy, the model and a seed, and asks in the policy's words.
    """

    texts = {  # noqa: RUF012  # said once, and never changed
        "reply_prompt": "Reply in two friendly sentences.\n\nThe user once said:\n{{memories}}",
        "answer_prompt": "Choose what suits this user.\n\nThe user once said:\n{{memories}}",
    }
    settings = {"top_k": 5}  # noqa: RUF012

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._sessions = SessionCount()
        self.entries: tuple[Entry, ...] = ()
        self.writes: tuple[Write, ...] = ()

    def reply(self, message: ChatMessage) -> str:
        """Reply with what is like the message."""
        return self._speaker.reply(message, (), self._like(message.content))

    def prepare(self, query: Query) -> Prepared:
        """Ask with what is like the query."""
        return self._speaker.prepare(query, (), self._like(query.search))

    def observe(self, messages: Sequence[ChatMessage]) -> None:
        """Keep the user's messages."""
        for message in messages:
            period, session = message_position(message.id)[0], self._sessions.see(message)
            if message.role == "user":
                number = len(self.entries)
                said = f"user: {message.content}"
                entry = Entry(number, "", said, (message.id,), number, period, session)
                self.entries += (entry,)
                self.writes += (Write(number, period, (message.id,), (number,)),)

    def _like(self, asked: str) -> tuple[Entry, ...]:
        words = set(asked.lower().split())
        shared = {one.id: len(words & set(one.text.lower().split())) for one in self.entries}
        best = sorted(self.entries, key=lambda one: (-shared[one.id], -one.id))
        return tuple(best[: int(self._speaker.policy.settings["top_k"] or 0)])
