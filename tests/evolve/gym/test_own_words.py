"""The match rule of answers in own words."""

import pytest

from evolve.gym.own_words import ANOTHER, named_choice
from evolve.gym.people import Choice
from evolve.lm.parse import FormatError

CHOICES = (
    *(Choice((value,), value) for value in ("York", "New York", "a cat")),
    Choice(("东京",), "东京", ("Tokyo",)),
    ANOTHER,
)


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ('{"answer": "york"}', 0),
        ('{"answer": "In NEW  YORK, I think."}', 1),
        ("York", 0),
        ('{"answer": "The cat!"}', 2),
        ('{"answer": "cats"}', 4),
        ('{"answer": "Ｔokyo"}', 3),
        ('{"answer": "我住在东京。"}', 3),
        ('{"answer": "York, then New York"}', 4),
        ('{"answer": "York or Tokyo"}', 4),
        ('{"answer": "unknown"}', 4),
        ('{"answer": 5}', 4),
        ('{"answer": "York %s"}' % ("word " * 30), 4),
    ],
)
def test_match_rule(reply, named):
    assert named_choice(reply, CHOICES) == named


@pytest.mark.parametrize("reply", ["", '{"said": "York"}', '{"answer": null}', '{"answer": [1]}'])
def test_what_is_no_answer(reply):
    with pytest.raises(FormatError):
        named_choice(reply, CHOICES)
