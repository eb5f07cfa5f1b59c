"""Makes users of dialogues: recorded conversations, and questions answered in own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evolve.gym.overlap import REFUSAL
from evolve.gym.own_words import ANOTHER
from evolve.gym.people import Choice, Period, Question, Session, User
from evolve.locomo.dialogues import (
    ADVERSARIAL,
    CATEGORIES,
    Dialogue,
    OpenQuestion,
    Told,
    parted,
    recorded,
)
from evolve.locomo.dialogues import Session as Spoken

_LISTS, _OPEN = 1, 3  # categories whose answers are lists; whose answers give reasons


def users_of(dialogues: Sequence[Dialogue], periods: int = 1) -> tuple[User, ...]:
    """One user per dialogue, who is replayed.

    Args:
        dialogues: At least one.
        periods: Into how many a dialogue's sessions are parted, as evenly as may be; one for every
            session at most. A question is asked once: at the end of the period in which the last of
            its evidence was said, or of the last period where it has none. With a single one all
            are asked at the end, as the benchmark does.
    """
    return tuple(_user(dialogue, min(periods, len(dialogue.sessions))) for dialogue in dialogues)


def _user(dialogue: Dialogue, count: int) -> User:
    values = {
        f"{CATEGORIES[question.category]} {number}": _value(question)
        for number, question in enumerate(dialogue.questions)
    }
    due = dict(zip(values, _due(dialogue, count), strict=True))
    periods = [
        Period(
            start=None,
            end=None,
            sessions=tuple(_session(dialogue.sessions[number]) for number in place),
            state=values,
            updated=frozenset(name for name in values if due[name] == period and period),
        )
        for period, place in enumerate(parted(len(dialogue.sessions), count))
    ]
    questions = [
        _question(question, name, value, due[name])
        for question, (name, value) in zip(dialogue.questions, values.items(), strict=True)
    ]
    return User(
        id=dialogue.id,
        profile="",
        schema={name: (value,) for name, value in values.items()},
        periods=tuple(periods),
        questions=tuple(questions),
        recorded=recorded(dialogue, count, _told(dialogue, values)).periods,
    )


def _value(question: OpenQuestion) -> str:
    """The right answer as the benchmark compares it."""
    if question.answer is None:
        return REFUSAL
    if question.category == _OPEN:  # what follows are reasons
        return question.answer.split(";")[0].strip() or question.answer
    return question.answer


def _due(dialogue: Dialogue, count: int) -> list[int]:
    """Per question the period at whose end it is asked."""
    period_of = {
        turn.id: period
        for period, place in enumerate(parted(len(dialogue.sessions), count))
        for number in place
        for turn in dialogue.sessions[number].turns
    }
    return [
        max((period_of[turn] for turn in question.evidence), default=count - 1)
        for question in dialogue.questions
    ]


def _session(session: Spoken) -> Session:
    return Session(session.turns[0].text, session.time, {})


def _question(question: OpenQuestion, name: str, value: str, due: int) -> Question:
    choices = (Choice((value,), value), ANOTHER)
    asked = Question(question.text, (name,), choices, frozenset({due}), own_words=True)
    if question.category == ADVERSARIAL:
        return replace(asked, match="refusal")
    return replace(asked, match="parts" if question.category == _LISTS else "tokens")


def _told(dialogue: Dialogue, values: Mapping[str, str]) -> Told:
    """Turn to the answers that it holds, by the evidence.

    That something was never said is known at the end alone, so the last turn tells that.
    """
    last = dialogue.turns[-1].id
    told: dict[str, tuple[tuple[str, str], ...]] = {}
    for question, pair in zip(dialogue.questions, values.items(), strict=True):
        turns = (last,) if question.category == ADVERSARIAL else question.evidence
        told |= {turn: (*told.get(turn, ()), pair) for turn in turns}
    return told
