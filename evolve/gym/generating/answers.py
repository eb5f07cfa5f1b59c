"""The choices of a question: an answer for every combination of values, told apart by a reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from evolve.gym.generating.author import Author, Step
from evolve.gym.generating.questions import Asked
from evolve.gym.generating.replies import as_object, as_text, numbered
from evolve.gym.generating.wording import foreign
from evolve.lm.json_text import FormatError
from evolve.seeding import derive

_LONGEST = 700  # characters

_ANSWERS = Step(
    "answers",
    "Below are a question that a person asks an assistant, and every combination of the values of "
    "the two states that the right advice depends on. Write for each combination the answer that "
    "is right where it is true of the person: two or three sentences of advice that fit it and no "
    "other. Whoever knows both values must be able to pick the right answer; so let the advice "
    "show the effect of both. Do not name the states, and do not say the values in their own "
    "words. All answers should have about the same length.",
    '{"answers": {"1": "the answer for combination 1", …}}',
    "answers",
)
_MATCHES = Step(
    "matches",
    "Below are a question that a person asks an assistant, several combinations of facts about the "
    "person, and as many answers in another order. Each answer was written for one combination. "
    "Say for each answer which combination it fits best.",
    '{"matches": {"A": number of the combination, …}}',
    "matches",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and the values that it is right for, in the order of the question's states."""

    state: tuple[str, ...]
    text: str


def make_answers(
    author: Author, question: Asked, schema: Mapping[str, Sequence[str]]
) -> tuple[Answer, ...]:
    """Have an answer written for every combination of values.

    Raises:
        UnmendedError: A reader who is told the values does not find the right ones, however often
            they were mended.
    """
    states = list(product(*(schema[name] for name in question.required)))
    combinations = {
        str(number): dict(zip(question.required, values, strict=True))
        for number, values in enumerate(states, 1)
    }
    material = {"question": question.query, "combinations": combinations}

    def read(value: object) -> tuple[Answer, ...]:
        texts = numbered(value, "the answers", len(states))
        found = [as_text(text, "each answer", _LONGEST) for text in texts]
        return tuple(Answer(*pair) for pair in zip(states, found, strict=True))

    def faults(answers: tuple[Answer, ...], tried: int) -> list[str]:
        if len({answer.text.casefold() for answer in answers}) < len(answers):
            return ["two answers are the same"]
        wrong = [
            fault
            for number, answer in enumerate(answers, 1)
            for fault in foreign(f"answer {number}", answer.text, author.brief.language)
        ]
        return wrong or _mistaken(author, material, [answer.text for answer in answers])

    return author.write(_ANSWERS, material, read, faults)


def _mistaken(author: Author, material: Mapping[str, object], texts: Sequence[str]) -> list[str]:
    """What a reader who knows the values takes for another combination's answer."""
    order = list(range(len(texts)))
    Random(derive(author.seed, "matches", *texts)).shuffle(order)
    letters = [chr(ord("A") + place) for place in range(len(texts))]
    shown = {letter: texts[place] for letter, place in zip(letters, order, strict=True)}

    def read(value: object) -> dict[int, int]:
        found = as_object(value, "the matches")
        if set(found) != set(letters):
            raise FormatError(f"each answer from A to {letters[-1]} needs its combination")
        return {
            place: _number(found[letter], len(texts))
            for letter, place in zip(letters, order, strict=True)
        }

    taken = author.check(_MATCHES, {**material, "answers": shown}, read)
    return [
        f"answer {place + 1} was taken for that of combination {taken[place]}: let it show more "
        "plainly what sets its own apart"
        for place in range(len(texts))
        if taken[place] != place + 1
    ]


def _number(value: object, most: int) -> int:
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise FormatError(f"each combination is a number from 1 to {most}, not {value!r}")
    return number
