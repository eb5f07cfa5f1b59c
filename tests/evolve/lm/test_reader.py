"""Which states and options the offline model takes for ones that its lexicon knows."""

import json

import pytest

from evolve.config import environment_path
from evolve.lm.reader import the_reader


def test_every_state_of_the_sample_is_known_with_all_of_its_options():
    with open(environment_path("sample"), encoding="utf-8") as file:
        users = json.load(file)
    schemas = {(s, tuple(o)) for user in users for s, o in user["state_schema"].items()}
    assert len(schemas) > 30
    for state, options in schemas:
        assert the_reader().options(state, options) == dict(zip(options, options, strict=True))


@pytest.mark.parametrize(
    ("state", "options", "known"),
    [
        ("pet", ("dog", "cat"), {"has_dog": "dog", "has_cat": "cat"}),
        ("drink", ("tea", "coffee"), None),  # no amounts of coffee
        ("pet", ("dog", "omen"), None),
        ("pet", ("dog", "dogs"), None),  # two that could not be told apart
        ("omen", ("dog", "cat"), None),
    ],
)
def test_a_state_is_known_where_each_option_is_another_known_value(state, options, known):
    assert the_reader().options(state, options) == known
