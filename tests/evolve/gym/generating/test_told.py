"""What a text lets be known is read strictly."""

from __future__ import annotations

import pytest

from evolve.gym.generating.told import told
from evolve.lm.json_text import FormatError

SCHEMA = {"drink": ("tea", "coffee"), "pet": ("cat", "dog")}


def test_values_are_named_by_state(scripted):
    author, _ = scripted()
    assert told(author, "I poured one. <drink: tea>", SCHEMA) == {"drink": "tea"}
    assert told(author, "Hello.", SCHEMA) == {}


@pytest.mark.parametrize(
    "found", [{"car": "red"}, {"drink": "milk"}, {"drink": None}, {"drink": ["tea"]}, ["drink"]]
)
def test_what_is_no_state_with_one_of_its_values_is_unreadable(scripted, found):
    author, lm = scripted(told=lambda nth, right: {"told": found})
    with pytest.raises(FormatError, match="no readable reply"):
        told(author, "Hello.", SCHEMA)
    assert lm.asked["told"] == 2
