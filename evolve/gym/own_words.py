"""Questions that are answered in the assistant's own words: which value of a state a reply names.

The match rule: a reply names a value if the value, or another way to write it that is accepted,
stands in it as whole words, width, case, punctuation and articles aside. A reply of more than
``MOST_WORDS`` words names nothing, nor does one in which several values stand, unless one is part
of the other (as "York" is of "New York"): then the longer one counts. Where a question says so, the
overlap of words decides instead (``evolve.gym.overlap``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolve.gym.overlap import ENOUGH, OVERLAPS
from evolve.gym.people import Choice, Question
from evolve.lm.parse import UNKNOWN, parse_words
from feedback.records import StateProbe
from policies.words import occurrences, phrases, words

MOST_WORDS = 30  # more is a list of all that is known, not an answer
_ARTICLES = frozenset({"a", "an", "the"})
ANOTHER = Choice((), "another answer")
"""What a reply chooses that names no value; the last choice of every such question."""


def content_words(text: str) -> tuple[str, ...]:
    """What of a text counts in the match rule."""
    return tuple(word for word in words(text) if word not in _ARTICLES)


def own_choice(reply: str, question: Question) -> int:
    """Index of the choice that a reply means, by the question's match rule; the last for none.

    Raises:
        FormatError: The reply is no answer.
    """
    if question.match == "named":
        return named_choice(reply, question.choices)
    measure = OVERLAPS[question.match]
    enough = measure(parse_words(reply), question.choices[0].answer) >= ENOUGH
    return 0 if enough else len(question.choices) - 1


def named_choice(reply: str, choices: Sequence[Choice]) -> int:
    """Index of the choice that a reply names, that of ``ANOTHER`` where it names none.

    Raises:
        FormatError: The reply is no answer.
    """
    said = content_words(parse_words(reply))
    if len(said) > MOST_WORDS:
        return len(choices) - 1
    found = [
        (start, end, index)
        for index, choice in enumerate(choices[:-1])
        for form in (*choice.state, *choice.also)
        for start, end in occurrences(said, phrases([" ".join(content_words(form))]))
    ]
    whole = {
        index
        for start, end, index in found
        if not any(s <= start and end <= e and e - s > end - start for s, e, _ in found)
    }
    return whole.pop() if len(whole) == 1 else len(choices) - 1


def own_probe(
    question: Question, state: Mapping[str, str], chosen: int | None, reply: str
) -> tuple[StateProbe, ...]:
    """What the answer tells of the state: such a question is its own probe.

    Args:
        question: Has choices whose last is ``ANOTHER``.
        state: What is true.
        chosen: Index of the choice that was named; None where the reply could not be read.
        reply: As it came.
    """
    (name,) = question.required
    if chosen is None:
        return (StateProbe(name, state[name], None, format_error=True),)
    value = next(iter(question.choices[chosen].state), None)
    unknown = value is None and words(parse_words(reply)) == (UNKNOWN,)
    return (StateProbe(name, state[name], value, unknown=unknown),)
