"""The words of questions, probes and upper bounds: fixed, never evolved, the same for all."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import ceil

from evolve.agents.base import Query
from evolve.gym.overlap import REFUSAL
from evolve.gym.users import Question, User
from evolve.lm.base import CAPS, Message, Request
from evolve.seeding import derive

_BOUND_PROMPT = "You advise a user. These facts are true of the user now:\n"
_ANSWER_RULES = (
    'Reply with JSON only, {"answer": N}, where N is the number of the choice that fits the '
    "present situation of the user best."
)
_OWN_WORDS = (
    'Reply with JSON only, {"answer": "WORDS"}: what is true of the user now, in at most twelve '
    'words, or "unknown".'
)
_OVERLAP = (
    'Reply with JSON only, {"answer": "WORDS"}: a short phrase, in the very words of the '
    f'conversation where that is possible, or "{REFUSAL}" where it does not say.'
)
_PROBE_RULES = (
    'Reply with JSON only, {"name": "option"} with every name that is asked for and one of its '
    'options in full, or "unknown".'
)


def choice_order(seed: int, user: User, question: int, period: int) -> tuple[int, ...]:
    """In which order the choices are shown: entry i is the file's index of the i-th shown.

    A fixed order leaks the answer's position, so it is shuffled per (seed, user, question, period).
    """
    order = list(range(len(user.questions[question].choices)))
    random.Random(derive(seed, "order", user.id, question, period)).shuffle(order)
    return tuple(order)


def answer_query(seed: int, user: User, question: int, order: Sequence[int]) -> Query:
    """The question as it is put to an agent."""
    asked = user.questions[question]
    said = _question_text(asked, order)
    return Query("answer", _rules(asked), said, asked.query, _asked_seed(seed, user, question))


def probe_query(seed: int, user: User, question: int) -> Query:
    """The probe of a question's required states, each once."""
    required = tuple(dict.fromkeys(user.questions[question].required))
    return _states_query(user, required, _asked_seed(seed, user, question), CAPS["probe"])


def joint_states(user: User, period: int) -> tuple[str, ...]:
    """The states that a period's questions probe, each once, in order of first appearance."""
    asked = (user.questions[number] for number in user.probed_in(period))
    return tuple(dict.fromkeys(state for question in asked for state in question.required))


def joint_probe_query(seed: int, user: User, period: int) -> Query:
    """One probe of all ``joint_states`` of a period, in the words of the single ones.

    Its reply may be as long as those to single probes of two states each may be together.
    """
    states = joint_states(user, period)
    limit = CAPS["probe"] * ceil(len(states) / 2)
    return _states_query(user, states, derive(seed, "asked", user.id, "all"), limit)


def _states_query(user: User, required: Sequence[str], seed: int, limit: int) -> Query:
    lines = [
        f"{state}: {' | '.join(' '.join(option.split()) for option in user.schema[state])}"
        for state in required
    ]
    prompt = (
        "Which option is true of the user now, for each of these?\n<states>\n"
        + "\n".join(lines)
        + "\n</states>\nReply with JSON only."
    )
    search = " ".join(state.replace("_", " ") for state in required)
    return Query("probe", _PROBE_RULES, prompt, search, seed, limit)


def bound_request(
    seed: int, user: User, question: int, values: Sequence[str], order: Sequence[int]
) -> Request:
    """The question with the true values of its required states given."""
    asked = user.questions[question]
    given = dict(zip(asked.required, values, strict=True))
    facts = [f"- {state}: {' '.join(value.split())}" for state, value in given.items()]
    system = f"{_BOUND_PROMPT}<facts>\n" + "\n".join(facts) + f"\n</facts>\n\n{_rules(asked)}"
    messages = (Message("system", system), Message("user", _question_text(asked, order)))
    return Request("bound", messages, _asked_seed(seed, user, question), CAPS["bound"])


def _rules(asked: Question) -> str:
    """What is said of the form of an answer; the same for all questions of a match rule's kind."""
    if not asked.own_words:
        return _ANSWER_RULES
    return _OWN_WORDS if asked.match == "named" else _OVERLAP


def _asked_seed(seed: int, user: User, question: int) -> int:
    # Without the period: where nothing is known, a guess is one fixed guess per user and question.
    return derive(seed, "asked", user.id, question)


def _question_text(asked: Question, order: Sequence[int]) -> str:
    if asked.own_words:
        return f"<question>\n{asked.query}\n</question>\nReply with JSON only."
    choices = [f"{n}. {asked.choices[i].answer}" for n, i in enumerate(order, 1)]
    return (
        f"<question>\n{asked.query}\n</question>\n<choices>\n"
        + "\n".join(" ".join(choice.split()) for choice in choices)
        + '\n</choices>\nReply with JSON only: {"answer": N}'
    )
