"""Questions depend on two states each, and on enough of them together."""

from __future__ import annotations

import pytest

from evolve.gym.generating.persons import Person
from evolve.gym.generating.questions import make_questions, required_states

PERSON = Person({"name": "Ann"})


def changed(**change):
    """A first reply whose second question is changed so."""

    def spoil(nth, right):
        first, second = right["questions"]
        return right if nth else {"questions": [first, {**second, **change}]}

    return spoil


def test_every_question_has_two_states_of_its_own(scripted, kinds):
    author, lm = scripted()
    questions = make_questions(author, PERSON, kinds)
    assert len(questions) == 2
    assert len(required_states(questions)) == 4
    assert lm.asked == {"questions": 1, "told": 1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"states": ["kind_of_state_1", "weather"]}, "question 2 names 'weather'"),
        ({"states": ["kind_of_state_4", "kind_of_state_4"]}, "question 2 names one state twice"),
        ({"states": ["kind_of_state_3", "kind_of_state_1"]}, "two questions have the same states"),
        ({"states": ["kind_of_state_2", "kind_of_state_1"]}, "need 3 different states, but"),
        ({"states": ["kind_of_state_2"]}, "must have 2 members, not 1"),
        ({"question": " "}, "the words of each question must be text"),
        ({"question": "As <kind_of_state_5: value a of 5>, where to?"}, "'value a of 5', which"),
        (
            {"question": "Wohin soll ich mit dem Hund und der Katze?"},
            "question 2 must be in English",
        ),
    ],
)
def test_a_fault_is_told_and_mended(scripted, kinds, change, reason):
    author, lm = scripted(questions=changed(**change))
    make_questions(author, PERSON, kinds)
    assert reason in lm.told("questions")
    assert lm.asked["questions"] == 2
