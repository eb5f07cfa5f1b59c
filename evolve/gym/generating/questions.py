"""What a user asks in every period, and which two states the right advice depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evolve.gym.generating.author import Author, Step
from evolve.gym.generating.kinds import Kinds, listed, values_of
from evolve.gym.generating.persons import Person
from evolve.gym.generating.replies import as_list, as_object, as_text
from evolve.gym.generating.told import told
from evolve.gym.generating.wording import foreign

_REQUIRED = 2  # states of a question
_LONGEST = 400  # characters

_QUESTIONS = Step(
    "questions",
    "Write the questions that this person asks the assistant again and again over the months. For "
    f"each choose {_REQUIRED} different states from the list, of which the right advice depends on "
    "both: whoever knows only one of them must not be able to tell which advice is right. Choose "
    "the states that matter to this person. A question is in the person's own words, one or two "
    "sentences, natural at any time, and gives none of the states away. No two questions may ask "
    "for the same, or have the same states; together they need at least as many different "
    "states as `different_states` says.",
    '{"questions": [{"question": "…", "states": ["name", "name"]}, …]}',
    "questions",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its words, and the two states that it depends on."""

    query: str
    required: tuple[str, ...]


def make_questions(author: Author, person: Person, kinds: Kinds) -> tuple[Asked, ...]:
    """Have a user's questions written; the states that they need are those that the user has.

    Raises:
        UnmendedError: They break a rule, however often they were mended.
    """
    count = author.brief.questions
    different = count + _REQUIRED
    material = {
        "person": person.text,
        "how_many": count,
        "different_states": different,
        "states": listed(kinds),
    }

    def read(value: object) -> tuple[Asked, ...]:
        return tuple(_question(one) for one in as_list(value, "the questions", count))

    def faults(questions: tuple[Asked, ...], tried: int) -> list[str]:
        wrong = _form(questions, kinds, different)
        for number, question in enumerate(questions, 1):
            wrong += foreign(f"question {number}", question.query, author.brief.language)
        text = "\n".join(question.query for question in questions)
        given = () if wrong else told(author, text, values_of(kinds)).items()
        return wrong + [
            f"a question lets a reader know that {name} is {value!r}, which none may"
            for name, value in given
        ]

    return author.write(_QUESTIONS, material, read, faults)


def required_states(questions: Sequence[Asked]) -> tuple[str, ...]:
    """The states that questions depend on, each once, in their order."""
    return tuple(dict.fromkeys(name for question in questions for name in question.required))


def _question(value: object) -> Asked:
    found = as_object(value, "each question")
    query = as_text(found.get("question"), "the words of each question", _LONGEST)
    states = as_list(found.get("states"), "the states of each question", _REQUIRED)
    return Asked(query, tuple(as_text(name, "each state's name", _LONGEST) for name in states))


def _form(questions: Sequence[Asked], kinds: Kinds, different: int) -> list[str]:
    """What is wrong with them whatever they say."""
    known = {kind.name for kind in kinds}
    wrong = []
    for number, question in enumerate(questions, 1):
        unknown = [name for name in question.required if name not in known]
        if unknown:
            wrong.append(f"question {number} names {unknown[0]!r}, which is no state of the list")
        if len(set(question.required)) < _REQUIRED:
            wrong.append(f"question {number} names one state twice")
    if len({frozenset(question.required) for question in questions}) < len(questions):
        wrong.append("two questions have the same states")
    if len({question.query.casefold() for question in questions}) < len(questions):
        wrong.append("two questions are the same")
    used = len(required_states(questions))
    if used < different:
        wrong.append(f"the questions need {used} different states, but should need {different}")
    return wrong
