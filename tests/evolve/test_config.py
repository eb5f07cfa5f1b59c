"""Options are checked, and those of a resumed run stand unless given again."""

from pathlib import Path

import pytest

from evolve.config import Options, merge_options
from policies.errors import ConfigError


def test_only_the_budget_must_be_given():
    options = merge_options(None, {"budget": 60})
    assert options == Options(60)
    assert options.as_dict() == {
        "budget": 60,
        "env": "sample",
        "policy": "awe",
        "model": "offline",
        "strategy": "joint",
        "holdout": "auto",
        "seed": 0,
        "first_rounds": 1,
        "later_rounds": 2,
    }
    with pytest.raises(ConfigError, match="--budget is missing; try --budget 300"):
        merge_options(None, {"seed": 1})


def test_given_options_stand_over_those_of_the_run():
    past = {"budget": 60, "seed": 3, "later_rounds": 4, "gone": True}
    assert merge_options(past, {"seed": 5}) == Options(60, seed=5, later_rounds=4)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"budget": 0}, "--budget must be at least 1, but is 0"),
        ({"budget": 60, "seed": -1}, "--seed must be at least 0, but is -1"),
        ({"budget": 60, "first_rounds": 0}, "--first-rounds must be at least 1, but is 0"),
        ({"budget": 60, "first_rounds": 51}, "--first-rounds must be at most 50, but is 51"),
        ({"budget": 60, "later_rounds": 0}, "--later-rounds must be at least 1, but is 0"),
        ({"budget": 60, "strategy": "x"}, "--strategy must be one of joint, placebo, but is 'x'"),
        ({"budget": 60, "holdout": "x"}, "--holdout must be one of auto, users, periods, but"),
        ({"budget": 60, "model": "x"}, "--model must be one of offline, but is 'x'"),
    ],
)
def test_values_out_of_range(given, reason):
    with pytest.raises(ConfigError, match=reason):
        merge_options(None, given)


def test_the_packaged_sample_is_there():
    assert Path(Options(60).env_path).is_file()
    assert Options(60, env="mine.json").env_path == "mine.json"
