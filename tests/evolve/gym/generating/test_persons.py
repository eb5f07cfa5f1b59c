"""A profile gives no state away, and people differ."""

from __future__ import annotations

from random import Random

import pytest

from evolve.gym.generating.author import UnmendedError
from evolve.gym.generating.persons import make_person


def about(text):
    """A reply whose profile says so."""
    return lambda nth, right: (
        right if nth else {"profile": {**right["profile"], "complementary_info": text}}
    )


def test_a_profile_has_what_was_drawn_and_what_was_written(scripted, kinds):
    author, _ = scripted()
    person = make_person(author, kinds, Random(1))
    assert list(person.fields)[:3] == ["name", "age", "nature"]
    assert person.text.startswith("name: First Last\nage: ")
    assert make_person(author, kinds, Random(2)).text != person.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Always <kind_of_state_1: value b of 1>.", "kind_of_state_1 is 'value b of 1', which it"),
        ("", "complementary_info must be text that is not blank"),
        ("Sie weiß nicht, ob das für den Hund und die Katze ist.", "must be in English"),
    ],
)
def test_a_fault_is_mended(scripted, kinds, text, reason):
    author, lm = scripted(profile=about(text))
    make_person(author, kinds, Random(1))
    assert reason in lm.told("profile")
    assert lm.asked["profile"] == 2


def test_a_profile_that_stays_wrong_fails(scripted, kinds):
    author, _ = scripted(profile=lambda nth, right: {"profile": []})
    with pytest.raises(UnmendedError, match="the profile must be a JSON object"):
        make_person(author, kinds, Random(1))
