"""A whole user is valid, is the same for the same seed, and tells what it should."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evolve.gym.generating.author import UnmendedError
from evolve.gym.generating.users import make_user
from evolve.gym.users import users_of


def test_a_user_is_valid_and_every_value_is_told_in_its_period(scripted, kinds):
    author, _ = scripted()
    made = make_user(author, kinds, "travel-0")
    (user,) = users_of([json.loads(json.dumps(made))], "made.json")
    assert (user.id, len(user.periods), len(user.questions)) == ("travel-0", 3, 2)
    assert user.truth().traceable
    for number, period in enumerate(user.periods):
        told = {name for session in period.sessions for name in session.exposed}
        assert told == (period.updated if number else set(user.schema))
        for session in period.sessions:
            assert all(period.state[name] == value for name, value in session.exposed.items())


def test_a_user_has_all_keys_of_the_layout(scripted, kinds):
    author, _ = scripted()
    made = make_user(author, kinds, "travel-0")
    first, second = made["periods"][:2]
    assert {name: new["old"] for name, new in first["updates"].items()} == dict.fromkeys(
        made["state_schema"]
    )
    changed = {name for name in second["state"] if second["state"][name] != first["state"][name]}
    assert set(second["updates"]) == changed
    assert all(new["old"] == first["state"][name] for name, new in second["updates"].items())
    assert second["period_summary"]
    assert any(session["event"] for session in second["sessions"])
    assert sum(second["update_cnts"].values()) >= len(changed)


def test_the_same_seed_makes_the_same_user_and_another_another(scripted, kinds):
    author, _ = scripted()
    other = replace(author, seed=6)
    assert make_user(author, kinds, "u") == make_user(author, kinds, "u")
    assert make_user(author, kinds, "u")["periods"] != make_user(other, kinds, "u")["periods"]


@pytest.mark.parametrize(
    ("step", "reply", "where"),
    [
        ("sessions", {"query": ""}, r"sessions: .* \(period 0, session 0\)"),
        ("answers", {"answers": {}}, r"answers: .* \(to 'Question 0"),
    ],
)
def test_a_failure_says_where(scripted, kinds, step, reply, where):
    author, _ = scripted(**{step: lambda nth, right: reply})
    with pytest.raises(UnmendedError, match=where):
        make_user(author, kinds, "u")
