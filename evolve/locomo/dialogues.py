"""The frozen records of LoCoMo: dialogues of two people, and questions with their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from evolve.gym.recorded import Conversation, session_messages
from feedback.records import ChatMessage

CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""What the benchmark calls its categories of questions, by their numbers in the file."""

Told = Mapping[str, tuple[tuple[str, str], ...]]
"""Id of a turn to the (state, value) pairs that it tells."""

ADVERSARIAL = 5  # asks for what was never said: right is to refuse


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a dialogue.

    Attributes:
        id: As evidence names it, such as ``D3:12``: session 3, turn 12, counted from 1.
        speaker: Who says it.
        text: What is said, with the caption of a shared picture in brackets after it.
    """

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """One session: when it was, in the words of the file, and its turns, at least one."""

    time: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question without choices.

    Attributes:
        text: What is asked.
        answer: The right one; None for an adversarial question, which has none.
        category: One of ``CATEGORIES``.
        evidence: Ids of turns that hold the answer, each once, all of them in the dialogue; empty
            where the file names none that can be read.
    """

    text: str
    answer: str | None
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Oddity:
    """An evidence string that is not simply the id of a turn.

    Attributes:
        dialogue: Id of the dialogue.
        question: Number of the question, from 0.
        found: The string.
        told: What became of it, in words.
        read: Whether all of it could be used.
    """

    dialogue: str
    question: int
    found: str
    told: str
    read: bool


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Two people's sessions over months, with questions that are asked at the end.

    Attributes:
        id: Unique within the file.
        speakers: Who stands for the user, and who for the assistant.
        sessions: In order of time, at least one.
        questions: At least one.
        oddities: Evidence strings that were read otherwise than as they stand, or not at all.
    """

    id: str
    speakers: tuple[str, str]
    sessions: tuple[Session, ...]
    questions: tuple[OpenQuestion, ...]
    oddities: tuple[Oddity, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns in order."""
        return tuple(turn for session in self.sessions for turn in session.turns)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A dialogue as a memory hears it.

    Attributes:
        periods: Per period, per session its messages; the first speaker has the role of the user,
            and every message says when and by whom it was said.
        turn_of: Id of a message to the id of its turn.
    """

    periods: tuple[Conversation, ...]
    turn_of: Mapping[str, str]


def recorded(dialogue: Dialogue, periods: int = 1, told: Told = MappingProxyType({})) -> Recorded:
    """A dialogue as messages.

    Args:
        dialogue: Its sessions are parted into the periods as evenly as may be.
        periods: How many, at most one for every session.
        told: Id of a turn to the states that it tells.
    """
    turn_of: dict[str, str] = {}
    conversations = []
    for period, place in enumerate(parted(len(dialogue.sessions), periods)):
        sessions = []
        for number, session in enumerate(dialogue.sessions[place.start : place.stop]):
            turns = [_message(turn, session, dialogue, told) for turn in session.turns]
            messages = session_messages(period, number, turns)
            ids = (turn.id for turn in session.turns)
            turn_of |= zip((message.id for message in messages), ids, strict=True)
            sessions.append(messages)
        conversations.append(tuple(sessions))
    return Recorded(tuple(conversations), turn_of)


def parted(total: int, parts: int) -> list[range]:
    """The numbers from 0 in so many stretches, as even as may be."""
    ends = [total * part // parts for part in range(parts + 1)]
    return [range(start, end) for start, end in pairwise(ends)]


def _message(turn: Turn, session: Session, dialogue: Dialogue, told: Told) -> ChatMessage:
    """A turn; its place is not known yet."""
    role = "user" if turn.speaker == dialogue.speakers[0] else "assistant"
    content = f"({session.time}) {turn.speaker}: {turn.text}"
    return ChatMessage("", role, content, told.get(turn.id, ()))
