"""Upper bounds: the same model answers with the true required states given; asked once each."""

from __future__ import annotations

from evolve.gym.questions import bound_request, choice_order
from evolve.gym.users import User
from evolve.lm.base import LM
from evolve.lm.meter import Meter
from evolve.lm.parse import FormatError, parse_choice
from feedback.records import Usage

Bounds = dict[tuple[str, int, int], float]  # (user, period, question) -> 1.0 if answered right


def bound_user(user: User, lm: LM, seed: int) -> tuple[Bounds, tuple[tuple[str, Usage], ...]]:
    """Upper bound of every (period, question) of one user, and what asking cost.

    Each is asked in the answer's own choice order; two periods whose true values and order are the
    same are asked once.
    """
    meter = Meter(lm)
    known: dict[tuple[int, tuple[str, ...], tuple[int, ...]], float] = {}
    bounds: Bounds = {}
    for period, lived in enumerate(user.periods):
        for number, question in enumerate(user.questions):
            values = tuple(lived.state[name] for name in question.required)
            order = choice_order(seed, user, number, period)
            key = (number, values, order)
            if key not in known:
                reply = meter.complete(bound_request(seed, user, number, values, order)).text
                try:
                    shown = [question.choices[i].answer for i in order]
                    chosen: int | None = order[parse_choice(reply, shown)]
                except FormatError:
                    chosen = None
                known[key] = float(chosen == question.right_choice(lived.state))
            bounds[user.id, period, number] = known[key]
    return bounds, meter.usage
