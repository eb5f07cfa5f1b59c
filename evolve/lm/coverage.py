"""How much of an environment the offline model's lexicon covers."""

from __future__ import annotations

from collections.abc import Sequence

from evolve.gym.users import User
from evolve.lm.reader import the_reader


def lexicon_share(users: Sequence[User]) -> float:
    """Share of the users' required states of which the lexicon knows name and options, in 0..1."""
    reader = the_reader()
    asked = [
        (state, user.schema[state])
        for user in users
        for question in user.questions
        for state in question.required
    ]
    known = sum(reader.options(state, tuple(options)) is not None for state, options in asked)
    return known / len(asked)
