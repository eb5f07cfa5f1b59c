"""The frozen records of LoCoMo: dialogues of two people, and questions with their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from feedback.records import ChatMessage

CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""What the benchmark calls its categories of questions, by their numbers in the file."""

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
        sessions: Per session its messages; the first speaker has the role of the user, and every
            message says when and by whom it was said.
        turn_of: Id of a message to the id of its turn.
    """

    sessions: tuple[tuple[ChatMessage, ...], ...]
    turn_of: Mapping[str, str]


def recorded(dialogue: Dialogue) -> Recorded:
    """The dialogue as messages of a single period."""
    turn_of: dict[str, str] = {}
    sessions = []
    for number, session in enumerate(dialogue.sessions):
        messages: list[ChatMessage] = []
        place = 0, -1  # round, and who spoke last in it: 0 for the user, 1 for the assistant
        for turn in session.turns:
            who = dialogue.speakers.index(turn.speaker)
            # A speaker may go on, or begin the session out of turn: what is said stays in order.
            place = (place[0] + (who <= place[1]), who)
            message_id = f"0.{number}.{place[0]}.{'ua'[who]}"
            content = f"({session.time}) {turn.speaker}: {turn.text}"
            messages.append(ChatMessage(message_id, ("user", "assistant")[who], content))
            turn_of[message_id] = turn.id
        sessions.append(tuple(messages))
    return Recorded(tuple(sessions), turn_of)
