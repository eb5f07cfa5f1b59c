"""Architecture ``native``: the newest history that fits stays in context; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from evolve.agents.base import Prepared, Query
from evolve.agents.common import Speaker
from evolve.lm.base import count_tokens
from feedback.records import ChatMessage, Entry, Write


class NativeAgent:
    """The whole conversation as chat turns, up to the setting ``context_tokens``."""

    entries: tuple[Entry, ...] = ()
    writes: tuple[Write, ...] = ()

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._limit = cast(int, speaker.policy.settings["context_tokens"])
        self._history: list[ChatMessage] = []
        self._tokens: list[int] = []
        self._total = 0

    def reply(self, message: ChatMessage) -> str:
        """Reply with the history that fits."""
        return self._speaker.reply(message, self._history, None)

    def prepare(self, query: Query) -> Prepared:
        """Ask with the history that fits."""
        return self._speaker.prepare(query, self._history, None)

    def observe(self, messages: Sequence[ChatMessage]) -> None:
        """Take the messages into the history; the oldest fall out of it."""
        for message in messages:
            self._history.append(message)
            self._tokens.append(count_tokens(message.content))
            self._total += self._tokens[-1]
        while self._total > self._limit and len(self._history) > 1:
            self._total -= self._tokens.pop(0)
            del self._history[0]
