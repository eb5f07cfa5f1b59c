"""A life: drawn so that nothing can be guessed, and believable as far as the model can make it."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from evolve.gym.generating.evolution import MOST_CHANGES, draw_evolution, make_evolution
from evolve.gym.generating.persons import Person

SCHEMA = {f"s{number}": ("a", "b", "c") for number in range(8)}
PERSON = Person({"name": "Ann"})


def life(scripted, spoil=None):
    author, lm = scripted(**({} if spoil is None else {"evolution": spoil}))
    return make_evolution(author, PERSON, SCHEMA, Random(3)), lm


@pytest.mark.parametrize("seed", range(20))
def test_a_drawn_life_keeps_its_rules(seed):
    drawn = draw_evolution(SCHEMA, 8, Random(seed))
    assert set(drawn.start) == set(SCHEMA)
    assert max(Counter(change.state for change in drawn.changes).values()) <= MOST_CHANGES
    for period in range(1, 8):
        before, now = drawn.state(period - 1), drawn.state(period)
        changed = {change.state for change in drawn.of(period)}
        assert {name for name in SCHEMA if before[name] != now[name]} == changed
        assert changed
        assert not changed & {change.state for change in drawn.of(period - 1)}


def test_every_value_is_as_likely_as_any_other():
    lives = [draw_evolution(SCHEMA, 8, Random(seed)) for seed in range(200)]
    counts = Counter(value for one in lives for value in one.state(7).values())
    assert all(0.3 < count / counts.total() < 0.37 for count in counts.values())


def test_few_states_rest_once_each_has_changed_often_enough():
    drawn = draw_evolution({"s": ("a", "b", "c")}, 24, Random(1))
    assert len(drawn.changes) == MOST_CHANGES


def test_the_model_may_put_another_value_in_the_place_of_a_drawn_one(scripted):
    other = {"a": "b", "b": "c", "c": "a"}

    def spoil(nth, right):
        start = right["life"]["start"]
        right["life"]["start"] = {**start, "s0": other[start["s0"]]}
        del right["life"]["changes"]
        right["life"]["changes"] = changes
        return right

    drawn = draw_evolution(SCHEMA, 3, Random(3))
    changes = {
        str(number): {"value": change.value, "event": "It rained."}
        for number, change in enumerate(drawn.changes, 1)
    }
    author, _ = scripted(evolution=spoil)
    made = make_evolution(author, PERSON, SCHEMA, Random(3))
    assert made.start["s0"] != drawn.start["s0"]
    assert [change.event for change in made.changes] == ["It rained."] * len(drawn.changes)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("start", "s0"), "d", "'d' is no value of s0; take one of a, b, c"),
        (("start", "x"), "a", "a value for each state, and for no other"),
        (("changes", "1", "value"), None, "None is no value of"),
        (("changes", "1", "event"), "", "each event must be text"),
        (("changes", "99"), {}, "must have the keys 1 to"),
    ],
)
def test_a_breach_of_form_is_told_and_mended(scripted, path, value, reason):
    def spoil(nth, right):
        place = right["life"]
        for step in path[:-1]:
            place = place[step]
        if not nth:
            place[path[-1]] = value
        return right

    _, lm = life(scripted, spoil)
    assert reason in lm.told("evolution")


def test_a_change_must_change_something(scripted):
    def spoil(nth, right):
        drawn = draw_evolution(SCHEMA, 3, Random(3))
        first = drawn.changes[0]
        if not nth:
            right["life"]["changes"]["1"]["value"] = drawn.start[first.state]
        return right

    _, lm = life(scripted, spoil)
    assert "change 1 must change" in lm.told("evolution")
