"""Lives in some of the life domains: as full as in all three, and nothing of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evolve.gym.sample import make_users
from evolve.gym.sample_bank import read_bank
from evolve.gym.sample_lives import draw_life
from evolve.gym.users import load_users, users_of
from policies.errors import ConfigError
from tests.evolve.gym.test_sample import command

SCHEMA = read_bank("a").schema
SOME = [("food",), ("fitness", "work_and_leisure"), ("work_and_leisure",)]


@pytest.mark.parametrize("domains", SOME)
def test_users_of_some_domains_live_as_full_a_life_there_alone(domains: tuple[str, ...]) -> None:
    users = users_of(json.loads(json.dumps(make_users(3, 12, domains=domains))), "some")
    there = {state: domain for domain in domains for state in SCHEMA[domain]}
    for user in users:
        assert user.schema.keys() <= there.keys()
        assert {there[state] for state in user.schema} == set(domains)
        assert 10 <= len(user.schema) <= 12
        assert len(user.questions) == 8
        for question in user.questions:  # a question is of one domain
            assert len({there[state] for state in question.required}) == 1
    assert {state for user in users for state in user.schema} == there.keys()


def test_two_domains_take_turns_in_having_more_states() -> None:
    more = []
    for index in range(4):
        life = draw_life(3, index, {name: SCHEMA[name] for name in ("food", "fitness")})
        held = list(life.domains.values())
        more.append(max(set(held), key=held.count))
    assert more == ["food", "fitness"] * 2


def test_a_user_is_the_same_whatever_the_number_and_the_order_of_domains() -> None:
    some = make_users(3, 5, domains=["fitness", "food"])
    assert some[:2] == make_users(3, 2, domains=["food", "fitness"])
    assert make_users(3, 2, domains=list(SCHEMA)) == make_users(3, 2)
    ids = {user["id"] for domains in SOME for user in make_users(3, 2, domains=domains)}
    assert len(ids) == 6


def test_the_command_takes_domains(tmp_path: Path) -> None:
    out = tmp_path / "food.json"
    line = ["--seed", "5", "--users", "3", "--domains", "food", "--out", str(out)]
    assert command(*line).returncode == 0
    assert {s for user in load_users(out) for s in user.schema} <= SCHEMA["food"].keys()


@pytest.mark.parametrize("domains", [["health"], ["food", "food"]])
def test_domains_that_are_none_are_refused(domains: list[str]) -> None:
    with pytest.raises(ConfigError, match="each named at most once"):
        make_users(1, 1, domains=domains)
