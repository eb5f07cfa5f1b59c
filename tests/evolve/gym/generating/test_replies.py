"""Strict reading: every breach is a reason."""

from __future__ import annotations

import pytest

from evolve.gym.generating.replies import as_list, as_object, as_text, numbered, part_of
from evolve.lm.json_text import FormatError


@pytest.mark.parametrize(
    "reply", ['{"a": 1}', 'Here: ```json\n{"a": 1}\n```', '{"b": 2} {"a": 1}', '{"a": 1,}']
)
def test_a_part_is_found_as_models_write_it(reply):
    assert part_of(reply, "a") == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no JSON object with the key 'a'"),
        ('{"b": 1}', "no JSON object with the key 'a'"),
        ('[{"a": 1}]', "no JSON object"),
        ('{"a": 1} {"a": 2}', "differ"),
        ('{"a": [1', "cut off"),
    ],
)
def test_what_is_no_part_is_refused(reply, reason):
    with pytest.raises(FormatError, match=reason):
        part_of(reply, "a")


@pytest.mark.parametrize("value", [None, 1, "", "  ", "\ud800", "four", ["a"]])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(FormatError, match=r"^it "):
        as_text(value, "it", 3)


def test_a_text_loses_white_space_around_it_alone():
    assert as_text("  a b ", "it", 3) == "a b"


@pytest.mark.parametrize("value", [{}, {"1": 0}, {"1": 0, "3": 0}, {"1": 0, "2": 0, "3": 0}, []])
def test_numbers_must_be_all_there(value):
    with pytest.raises(FormatError, match=r"^they must"):
        numbered(value, "they", 2)


def test_numbered_values_come_in_order():
    assert numbered({"2": "b", "1": "a"}, "they", 2) == ("a", "b")


def test_objects_and_lists_are_told_apart():
    with pytest.raises(FormatError, match="must be a JSON object"):
        as_object([], "it")
    with pytest.raises(FormatError, match="must be a list"):
        as_list({}, "it")
    with pytest.raises(FormatError, match="must have 2 members, not 1"):
        as_list([1], "it", 2)
