"""The list of types in a prompt: found under its heading, and taken out."""

from __future__ import annotations

import pytest

from evolve.importing.types_list import bullets, take_types

LIST = "1. Diet: what they eat\n2. Travel: where they go\n   and how\n3. Work: what they do\n"


def test_a_list_under_its_heading_is_taken():
    taken = take_types(f"Keep notes.\n\nTypes of information to remember:\n\n{LIST}\nAnswer.\n")
    assert taken.count == 3
    assert taken.types.splitlines() == [
        "- Diet: what they eat",
        "- Travel: where they go and how",
        "- Work: what they do",
    ]
    assert taken.before == "Keep notes.\n\nTypes of information to remember:\n\n"
    assert taken.after == "\nAnswer.\n"


@pytest.mark.parametrize(
    "heading", ["Rules to remember:", "Output format:", "For example:", "Do this:", ""]
)
def test_other_lists_stay(heading):
    assert take_types(f"{heading}\n{LIST}") is None


def test_a_list_of_two_is_no_list_of_types():
    assert take_types("Types:\n- a: x\n- b: y\n") is None


def test_a_text_that_is_a_list():
    assert bullets("- a: x\n\n* b: y\n  z\n") == ["a: x", "b: y z"]
    assert bullets("Types:\n- a: x\n") == []
    assert bullets("") == []
