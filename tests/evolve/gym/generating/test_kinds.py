"""The kinds of state: form, and how they are kept."""

from __future__ import annotations

import pytest

from evolve.gym.generating.kinds import Kind, listed, read_kinds
from evolve.lm.json_text import FormatError

GOOD = {"name": "travel_pace", "meaning": "How fast.", "values": ["slow", "medium", "fast"]}


def test_kinds_are_kept_as_they_are_read():
    (kind,) = read_kinds([GOOD], 1)
    assert kind == Kind("travel_pace", "How fast.", ("slow", "medium", "fast"))
    assert listed([kind]) == [GOOD]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "travel pace"}, "one word"),
        ({"name": "_pace"}, "one word"),
        ({"name": ""}, "not blank"),
        ({"name": None}, "must be text"),
        ({"meaning": None}, "meaning of travel_pace"),
        ({"values": ["slow", "fast"]}, "must have 3 members, not 2"),
        ({"values": ["slow", "Slow", "fast"]}, "two values of travel_pace are the same"),
        ({"values": "slow"}, "must be a list"),
        ({"values": ["slow", "medium", 3]}, "each value of travel_pace"),
    ],
)
def test_a_breach_of_form_is_a_reason(change, reason):
    with pytest.raises(FormatError, match=reason):
        read_kinds([{**GOOD, **change}], 1)


def test_no_name_stands_twice():
    with pytest.raises(FormatError, match="two states have the name 'travel_pace'"):
        read_kinds([GOOD, {**GOOD, "name": "Travel_Pace"}], 2)
