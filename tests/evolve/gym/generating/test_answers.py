"""An answer for every combination; a reader who knows the values finds the right one."""

from __future__ import annotations

import pytest

from evolve.gym.generating.answers import make_answers
from evolve.gym.generating.author import TRIES, UnmendedError
from evolve.gym.generating.questions import Asked

SCHEMA = {"pace": ("slow", "medium", "fast"), "pet": ("cat", "dog", "none")}
QUESTION = Asked("Where shall we go?", ("pace", "pet"))


def test_every_combination_has_its_answer(scripted):
    author, lm = scripted()
    answers = make_answers(author, QUESTION, SCHEMA)
    assert len({answer.state for answer in answers}) == 9
    assert all(
        answer.text.startswith(f"<pace: {answer.state[0]}> <pet: {answer.state[1]}>")
        for answer in answers
    )
    assert lm.asked == {"answers": 1, "matches": 1}


def test_answers_are_checked_in_another_order(scripted):
    author, lm = scripted()
    texts = [answer.text for answer in make_answers(author, QUESTION, SCHEMA)]
    (request,) = lm.requests["matches"]
    places = [request.messages[1].content.index(text) for text in texts]
    assert places != sorted(places)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda right: {**right, "2": right["1"]}, "two answers are the same"),
        (lambda right: {**right, "10": "x"}, "must have the keys 1 to 9"),
        (lambda right: {**right, "3": ""}, "each answer must be text"),
        (
            lambda right: {**right, "4": "Mit dem Hund und der Katze ist das nicht zu weit."},
            "answer 4 must be in English",
        ),
    ],
)
def test_a_fault_is_told_and_mended(scripted, spoil, reason):
    author, lm = scripted(
        answers=lambda nth, right: right if nth else {"answers": spoil(right["answers"])}
    )
    make_answers(author, QUESTION, SCHEMA)
    assert reason in lm.told("answers")
    assert lm.asked["answers"] == 2


def test_an_answer_that_is_taken_for_another_is_named(scripted):
    def swapped(nth, right):
        found = right["matches"]
        first, second = (next(k for k, v in found.items() if v == n) for n in (1, 2))
        return right if nth else {"matches": {**found, first: 2, second: 1}}

    author, lm = scripted(matches=swapped)
    make_answers(author, QUESTION, SCHEMA)
    assert "answer 1 was taken for that of combination 2" in lm.told("answers")
    assert "answer 2 was taken for that of combination 1" in lm.told("answers")
    assert "answer 3" not in lm.told("answers")


@pytest.mark.parametrize("number", [0, 10, "x", None, True, 1.5])
def test_answers_that_nobody_can_match_fail(scripted, number):
    author, lm = scripted(
        matches=lambda nth, right: {"matches": dict.fromkeys(right["matches"], number)}
    )
    with pytest.raises(UnmendedError, match="answers: after 4 tries"):
        make_answers(author, QUESTION, SCHEMA)
    assert lm.asked["answers"] == TRIES
