"""What is counted of an environment, by hand."""

from __future__ import annotations

from evolve.gym.generating.balance import balance_table
from evolve.gym.users import users_of


def test_figures_are_those_counted_by_hand(tiny):
    rows = dict(balance_table(users_of(tiny(), "tiny")).rows)
    assert rows["users"] == "2"
    assert rows["sessions of a user"] == "6.0"
    assert rows["questions, all users"] == "4"
    assert rows["right by guessing"] == f"{(1 / 3 + 1 / 2) / 2:.3f}"
    # The other user drinks coffee in two periods of three, and has a cat.
    assert rows["right by what is commonest among other users"] == f"{2 / 3:.3f}"
    assert rows["states that change in a later period"] == "0.50"
    assert rows["sessions that let no state be known"] == "0.500"
    assert rows["users who have a state, mean of all states"] == "1.000"


def test_one_user_has_no_others_to_learn_from(tiny):
    rows = dict(balance_table(users_of(tiny()[:1], "tiny")).rows)
    assert rows["right by what is commonest among other users"] == "-"
