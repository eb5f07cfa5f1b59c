"""The frozen records of own conversations: talks as they were exported, and probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from evolve.gym.checked import Place
from feedback.records import ChatMessage


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation.

    Attributes:
        user: Id of the user.
        time: Of its first message, in UTC, without a zone.
        turns: Messages of the user and the assistant in order, without ids; at least one.
    """

    user: str
    time: datetime
    turns: tuple[ChatMessage, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """What is true of a user from a day on, and a question that depends on it.

    Attributes:
        place: Where it stands in its file, for messages.
        user: Id of the user.
        state: What it is about, such as ``home_city``.
        question: Asked at the end of that day, and again later.
        expected: The value of the state from that day on, until a later probe of it.
        since: The day.
        choices: Value to the answer that suits it; None where the answer is in own words.
        accept: Other ways to write the value, where the answer is in own words.
    """

    place: Place
    user: str
    state: str
    question: str
    expected: str
    since: date
    choices: Mapping[str, str] | None = None
    accept: tuple[str, ...] = ()
