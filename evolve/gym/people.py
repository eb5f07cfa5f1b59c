"""The frozen records of an environment: users, what they live through and what they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evolve.gym.recorded import Conversation
from feedback.records import UserTruth

Schema = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Session:
    """One session's opening.

    Attributes:
        query: The user's first message, without the current time.
        time: Date and time as in the file.
        exposed: State to the value that the query reveals; None where the file does not say.
    """

    query: str
    time: str
    exposed: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Period:
    """One period of a user's life.

    Attributes:
        start: First day, where the file says.
        end: Last day, where the file says.
        sessions: In order of time; at least one, unless conversations are recorded.
        state: State to its true value throughout the period; every state of the schema.
        updated: States whose value differs from the period before; empty in the first period.
    """

    start: str | None
    end: str | None
    sessions: tuple[Session, ...]
    state: Mapping[str, str]
    updated: frozenset[str]


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a question.

    Attributes:
        state: The values that it suits, in the order of ``required``.
        answer: Its text.
        also: Other ways to write the value, where the question is answered in own words.
    """

    state: tuple[str, ...]
    answer: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question, of multiple choice or to be answered in own words.

    Attributes:
        query: Its text.
        required: States that it depends on; a published file names one of them twice. One alone
            where it is answered in own words.
        choices: At least two, no two for the same values. Of a question in own words, the values
            that an answer may name, the last being ``evolve.gym.own_words.ANOTHER``.
        periods: In which it is asked; None for all of them. Of a state that it requires, the
            period of every change up to the last must be among them, and the first if it is none.
        own_words: Whether the choices are not shown and the answer is matched with them.
        match: By which rule: ``named`` (``evolve.gym.own_words``), or a measure of
            ``evolve.gym.overlap`` with the first choice: ``tokens``, ``parts`` or ``refusal``.
    """

    query: str
    required: tuple[str, ...]
    choices: tuple[Choice, ...]
    periods: frozenset[int] | None = None
    own_words: bool = False
    match: Literal["named", "tokens", "parts", "refusal"] = "named"

    def right_choice(self, state: Mapping[str, str]) -> int:
        """Index of the choice that suits the current values.

        Raises:
            ValueError: No choice does; never for a period of a loaded user.
        """
        values = tuple(state[name] for name in self.required)
        for index, choice in enumerate(self.choices):
            if choice.state == values:
                return index
        raise ValueError(f"no choice suits {values}")


@dataclass(frozen=True, slots=True)
class User:
    """One person, simulated or recorded.

    Attributes:
        id: Unique within the file.
        profile: What the simulated user is told to be; empty where the file has none.
        schema: State to its possible values.
        periods: At least one, in order of time.
        questions: At least one.
        recorded: What was said in each period, to be replayed; None where the person is simulated.
    """

    id: str
    profile: str
    schema: Schema
    periods: tuple[Period, ...]
    questions: tuple[Question, ...]
    recorded: tuple[Conversation, ...] | None = None

    def asked_in(self, period: int) -> tuple[int, ...]:
        """Numbers of the questions that are asked at the end of a period."""
        return tuple(
            number
            for number, question in enumerate(self.questions)
            if question.periods is None or period in question.periods
        )

    def probed_in(self, period: int) -> tuple[int, ...]:
        """Of them those that have a probe: an answer in own words is its own."""
        return tuple(n for n in self.asked_in(period) if not self.questions[n].own_words)

    def truth(self) -> UserTruth:
        """What diagnosis, trace and feedback need to know of this user."""
        return UserTruth(
            user=self.id,
            schema=self.schema,
            states=tuple(period.state for period in self.periods),
            updated=tuple(period.updated for period in self.periods),
            queries=tuple(question.query for question in self.questions),
            choices=tuple(
                tuple(choice.answer for choice in question.choices) for question in self.questions
            ),
            required=tuple(question.required for question in self.questions),
            traceable=all(
                session.exposed is not None
                for period in self.periods
                for session in period.sessions
            ),
            recorded=self.recorded is not None,
        )


@dataclass(frozen=True, slots=True)
class Split:
    """Users for feedback, for the gate, and for the report at the end."""

    train: tuple[User, ...]
    gate: tuple[User, ...]
    test: tuple[User, ...]
