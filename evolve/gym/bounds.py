"""Upper bounds: the same model answers with the true required states given; asked once each."""

from __future__ import annotations

from functools import partial

from evolve.beside import OneByOne, SideBySide, Together
from evolve.gym.own_words import own_choice
from evolve.gym.questions import bound_request, choice_order
from evolve.gym.users import User
from evolve.lm.asking import ask
from evolve.lm.base import LM
from evolve.lm.meter import Meter, Spent, metered
from evolve.lm.parse import FormatError, parse_choice
from policies.errors import PolicyFailureError

Bounds = dict[tuple[str, int, int], float]  # (user, period, question) -> 1.0 if answered right
_Order = tuple[int, ...]
_Case = tuple[int, tuple[str, ...], _Order]  # question, values of its required states, order
_ONE_BY_ONE = OneByOne()


def bound_user(
    user: User, lm: LM, seed: int, beside: SideBySide = _ONE_BY_ONE
) -> tuple[Bounds, Spent]:
    """Upper bound of every (period, question) of one user, and what asking cost.

    Each is asked in the answer's own choice order; two periods whose true values and order are the
    same are asked once. What the model refuses to answer it does not answer right.

    Args:
        user: Whose questions are asked.
        lm: The assistant's model.
        seed: Of the run.
        beside: Asks them side by side.

    Raises:
        OutsideFailureError: A question could not be asked.
    """
    cases = {
        (period, number): _case(user, seed, period, number)
        for period in range(len(user.periods))
        for number in user.asked_in(period)
    }
    meter = Meter(lm)
    chosen: dict[_Case, int | None] = {}
    with Together(beside) as together:
        begun = {
            case: together.begin(partial(metered, lm, partial(_choose, user, seed, case)))
            for case in dict.fromkeys(cases.values())
        }
        for case, asked in begun.items():
            chosen[case] = asked.result().counted(meter)
    bounds = {
        (user.id, period, number): float(
            chosen[case] == user.questions[number].right_choice(user.periods[period].state)
        )
        for (period, number), case in cases.items()
    }
    return bounds, meter.usage


def _case(user: User, seed: int, period: int, number: int) -> _Case:
    state = user.periods[period].state
    values = tuple(state[name] for name in user.questions[number].required)
    return number, values, choice_order(seed, user, number, period)


def _choose(user: User, seed: int, case: _Case, lm: LM) -> int | None:
    """The file's index of the choice that the model makes, or None."""
    number, values, order = case
    question = user.questions[number]
    shown = [question.choices[i].answer for i in order]
    request = bound_request(seed, user, number, values, order)
    try:
        if question.own_words:
            named = ask(lm, request, lambda reply: own_choice(reply, question))
            return None if isinstance(named.value, FormatError) else named.value
        found = ask(lm, request, lambda reply: parse_choice(reply, shown))
    except PolicyFailureError:
        return None
    return None if isinstance(found.value, FormatError) else order[found.value]
