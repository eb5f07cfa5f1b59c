"""Architecture ``none``: no memory at all; what guessing and common sense achieve."""

from __future__ import annotations

from collections.abc import Sequence

from evolve.agents.base import Prepared, Query
from evolve.agents.common import Speaker
from feedback.records import ChatMessage, Entry, Write


class NoneAgent:
    """Sees the message at hand and nothing else."""

    entries: tuple[Entry, ...] = ()
    writes: tuple[Write, ...] = ()

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def reply(self, message: ChatMessage) -> str:
        """Reply to the message alone."""
        return self._speaker.reply(message, (), None)

    def prepare(self, query: Query) -> Prepared:
        """Ask without any memory."""
        return self._speaker.prepare(query, (), None)

    def observe(self, messages: Sequence[ChatMessage]) -> None:
        """Forget at once."""
