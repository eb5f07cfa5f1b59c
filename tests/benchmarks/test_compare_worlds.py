"""Which users a draw has, and which seeds judge."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.compare_worlds import (
    ABLATION_SEED,
    JUDGING_SEEDS,
    TRIAL_SEED,
    WORLDS,
    Draws,
    make_place,
    worlds_here,
)
from evolve.gym.sample_bank import read_bank
from evolve.gym.users import load_users


def test_no_two_judgings_share_a_draw() -> None:
    firsts = sorted((TRIAL_SEED, ABLATION_SEED, *JUDGING_SEEDS))
    assert min(b - a for a, b in pairwise(firsts)) >= 1000


def test_a_draw_is_the_same_for_all_strategies_and_another_for_the_next() -> None:
    draws = Draws(5000)
    for world in ("a", "b", "transfer"):
        one, other = (draws.spec(world, name, 3) for name in ("joint", "random"))
        assert (one.environment, one.seed) == (other.environment, other.seed)
        assert draws.spec(world, "joint", 4).environment != one.environment
    assert draws.spec("a", "joint", 0).most_tokens is not None


def test_the_users_of_a_sample_world_are_written(tmp_path: Path) -> None:
    place = make_place(Draws(5000, users=4).spec("b", "joint", 1), tmp_path, None)
    assert place.test is None
    assert [user.id for user in load_users(place.env)][:1] == ["sample-b-5001-0000"]


def test_the_test_users_of_transfer_live_where_no_other_user_does(tmp_path: Path) -> None:
    schema, tested = read_bank("a").schema, set()
    for draw in range(3):
        place = make_place(Draws(5000, users=6).spec("transfer", "joint", draw), tmp_path, None)
        assert place.test is not None
        env, test = (
            {state for user in load_users(path) for state in user.schema}
            for path in (place.env, place.test)
        )
        assert not env & test
        (domain,) = (name for name, states in schema.items() if test <= states.keys())
        tested.add(domain)
    assert tested == set(schema)


def test_published_users_are_left_out_where_they_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOTUNE_DATA", str(tmp_path))
    worlds, why = worlds_here(list(WORLDS), None)
    assert [world.name for world in worlds] == ["a", "b", "transfer"]
    assert "amemgym is skipped" in why[0]
    with pytest.raises(ValueError, match="are not there"):
        Draws(5000).spec("amemgym", "joint", 0)


def test_published_users_are_split_by_time(shared_data: Path, tmp_path: Path) -> None:
    spec = Draws(5000, data=shared_data).spec("amemgym", "joint", 2)
    assert (spec.holdout, spec.most_tokens, spec.seed) == ("periods", None, 5002)
    assert make_place(spec, tmp_path, shared_data).env.name == "data.json"
