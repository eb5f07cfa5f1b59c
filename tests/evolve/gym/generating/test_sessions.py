"""Sessions: every value is planned to be told in its period, and the words tell just that."""

from __future__ import annotations

from datetime import datetime
from random import Random

import pytest

from evolve.gym.generating.author import UnmendedError
from evolve.gym.generating.evolution import draw_evolution
from evolve.gym.generating.kinds import Kind
from evolve.gym.generating.persons import Person
from evolve.gym.generating.sessions import FEWEST, Planned, Scene, draw_calendar, make_query

NAMES = ("pace", "pet", "home")
KINDS = tuple(Kind(name, "It says.", ("a", "b", "c")) for name in NAMES)
SCENE = Scene(Person({"name": "Ann"}), KINDS, {"pace": "a", "pet": "b", "home": "c"}, {})
PLANNED = Planned("2024-05-01 10:00:00", {"pace": True, "pet": False})


@pytest.mark.parametrize("seed", range(10))
def test_every_value_is_told_once_in_the_period_in_which_it_takes_effect(seed):
    schema = {f"s{number}": ("a", "b", "c") for number in range(7)}
    life = draw_evolution(schema, 6, Random(seed))
    calendar = draw_calendar(life, 6, Random(seed))
    for period, drawn in enumerate(calendar):
        told = [name for session in drawn.sessions for name in session.reveals]
        expected = {change.state for change in life.of(period)} if period else set(schema)
        assert sorted(told) == sorted(expected)
        assert len(drawn.sessions) >= FEWEST
    times = [datetime.fromisoformat(one.time) for p in calendar for one in p.sessions]
    assert times == sorted(times)


def test_a_query_tells_what_is_planned(scripted):
    author, lm = scripted()
    assert "<pace: a> <pet: b>" in make_query(author, SCENE, PLANNED)
    content = lm.requests["sessions"][0].messages[1].content
    assert '"how": "state"' in content
    assert '"how": "imply"' in content


def test_talk_of_other_things_tells_nothing(scripted):
    author, _ = scripted()
    assert "<" not in make_query(author, SCENE, Planned("2024-05-01 10:00:00", {}))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("Hello there. <pace: a>", "a reader cannot tell from the message that pet is 'b'"),
        ("Hello there. <pace: c> <pet: b>", "a reader takes pace for 'c', but it is 'a'"),
        ("Hello. <pace: a> <pet: b> <home: c>", "the message lets home be known"),
        ("Ich bin mit dem Hund und der Katze auf dem Weg.", "must be in English"),
        ("", "the message must be text that is not blank"),
    ],
)
def test_a_fault_is_told_and_mended(scripted, query, reason):
    author, lm = scripted(sessions=lambda nth, right: right if nth else {"query": query})
    make_query(author, SCENE, PLANNED)
    assert reason in lm.told("sessions")
    assert lm.asked["sessions"] == 2


def test_a_query_that_stays_wrong_fails_with_what_a_reader_missed(scripted):
    author, _ = scripted(sessions=lambda nth, right: {"query": "Hello there."})
    with pytest.raises(UnmendedError, match="cannot tell from the message that pace is 'a'"):
        make_query(author, SCENE, PLANNED)
