"""Options are checked, and those of a resumed run stand unless given again."""

from pathlib import Path

import pytest

from evolve.config import Options, check_payable, merge_options
from evolve.means import Means, make_means
from evolve.roles import Models
from policies.errors import ConfigError

REAL = Models("openai/gpt-4.1-mini")


def test_only_the_budget_must_be_given():
    options = merge_options(None, {"budget": "60"})
    assert options == Options(60)
    assert options.as_dict() == {
        "budget": 60,
        "env": "sample",
        "policy": "awe",
        "model": "offline",
        "user_model": "offline",
        "rewrite_model": "offline",
        "api_base": None,
        "price": None,
        "strategy": "joint",
        "holdout": "auto",
        "seed": 0,
        "first_rounds": 1,
        "later_rounds": 2,
        "architecture": "same",
        "max_memory_tokens": None,
        "max_answer_tokens": None,
        "scope": "global",
        "feedback": "complete",
    }
    with pytest.raises(ConfigError, match="--budget is missing; try --budget 300"):
        merge_options(None, {"seed": 1})


def test_given_options_stand_over_those_of_the_run():
    past = {"budget": 60, "seed": 3, "later_rounds": 4, "gone": True}
    assert merge_options(past, {"seed": 5}) == Options(60, seed=5, later_rounds=4)
    past = Options("$5", models=Models("openai/a", "offline", price=(1, 2))).as_dict()
    assert merge_options(past, {}).as_dict() == past
    assert merge_options(past, {"user_model": "openai/b"}).models.user_model == "openai/b"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"budget": 0}, "--budget must be at least 1, but is 0"),
        ({"budget": 60, "seed": -1}, "--seed must be at least 0, but is -1"),
        ({"budget": 60, "first_rounds": 0}, "--first-rounds must be at least 1, but is 0"),
        ({"budget": 60, "first_rounds": 51}, "--first-rounds must be at most 50, but is 51"),
        ({"budget": 60, "later_rounds": 0}, "--later-rounds must be at least 1, but is 0"),
        ({"budget": 60, "architecture": "rag"}, "--architecture must be one of same, any, but is"),
        (
            {"budget": 60, "architecture": "any", "strategy": "placebo"},
            "strategy is placebo; leave",
        ),
        ({"budget": 60, "architecture": "any", "strategy": "gepa"}, "--strategy is gepa; leave it"),
        ({"budget": 60, "max_memory_tokens": 199}, "--max-memory-tokens must be at least 200, but"),
        ({"budget": 60, "max_answer_tokens": 0}, "--max-answer-tokens must be at least 1, but is"),
        (
            {"budget": 60, "strategy": "x"},
            "--strategy must be one of joint, placebo, .*, but is 'x'",
        ),
        ({"budget": 60, "holdout": "x"}, "--holdout must be one of auto, users, periods, but"),
        ({"budget": 60, "model": "x"}, "--model must be offline or a LiteLLM name such as"),
        ({"budget": 60, "user_model": "a b/c"}, "--user-model must be offline or .* is 'a b/c'"),
        ({"budget": 60, "api_base": "http://x"}, "--api-base says something of a model that is"),
        ({"budget": 60, "price": "1,2"}, "--price says something of a model that is called"),
        ({"budget": 60, "model": "o/x", "api_base": "x:1"}, "--api-base must be an address such"),
        ({"budget": "$5"}, r"dollars needs a model that is paid for, but --budget is \$5 and all"),
        ({"budget": "9calls,1tokens"}, "in calls or tokens needs a model that is paid for"),
    ],
)
def test_values_out_of_range(given, reason):
    with pytest.raises(ConfigError, match=reason):
        merge_options(None, given)


def test_a_budget_is_the_same_however_it_is_written():
    options = Options("30min, 300,$5.00", models=REAL)
    assert options == Options("300,$5,30min", models=REAL)
    assert options.budget == "300,$5,30min"
    assert options.units == {"rollouts": 300, "dollars": 5.0, "minutes": 30.0}
    assert Options("300,30min").units == {"rollouts": 300, "minutes": 30.0}
    with pytest.raises(ConfigError, match="--budget must be rollouts such as 300"):
        merge_options(None, {"budget": ""})


def test_who_is_not_named_is_played_by_the_model():
    models = Models("openai/a", rewrite_model="anthropic/b")
    assert models == Models("openai/a", "openai/a", "anthropic/b")
    assert models.real == ("openai/a", "anthropic/b")
    assert Models("openai/a", "offline", "offline").real == ("openai/a",)
    assert Models().real == ()


@pytest.mark.parametrize("price", ["1", "1,2,3", "a,b", "-1,2", "nan,1", ""])
def test_a_price_is_two_numbers(price):
    with pytest.raises(ConfigError, match="--price must be dollars per million tokens"):
        merge_options(None, {"budget": 60, "model": "o/x", "price": price})
    given = {"budget": 60, "model": "o/x", "price": "0.4, 1.6"}
    assert merge_options(None, given).models.price == (0.4, 1.6)


def test_means():
    assert make_means({"jobs": 2, "seed": 3, "cache": "x"}) == Means(2, cache=Path("x"))
    assert make_means({}).jobs >= 1
    for given, reason in [
        ({"jobs": 0}, "--jobs must be at least 1, but is 0"),
        ({"concurrency": 0}, "--concurrency must be at least 1, but is 0"),
        ({"timeout": 0.0}, "--timeout must be above 0 seconds, but is 0"),
        ({"timeout": float("nan")}, "--timeout must be above 0 seconds, but is nan"),
    ]:
        with pytest.raises(ConfigError, match=reason):
            make_means(given)


def test_the_packaged_sample_is_there():
    assert Path(Options(60).env_path).is_file()
    assert Options(60, env="mine.json").env_path == "mine.json"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"backend": "celery"}, "--backend must be one of threads, loky, dask, ray, but is"),
        ({"backend": "dask"}, "--scheduler says where --backend dask is, but it is missing"),
        ({"backend": "dask", "address": "a"}, "--scheduler says where"),
        ({"address": "a"}, "--address says where --backend ray is, but it is given and --backend"),
    ],
)
def test_a_backend_and_where_it_is(given, message):
    with pytest.raises(ConfigError, match=message):
        make_means(given)


def test_a_password_is_not_shown():
    assert "secret" not in repr(make_means({"storage": "postgresql://me:secret@host/db"}))


def test_dollars_are_watched_over_in_one_process():
    paid = Options("$5", models=Models("openai/a"))
    check_payable(paid, Means(backend="threads"))
    check_payable(Options("$5", models=Models(rewrite_model="openai/a")), Means(backend="loky"))
    with pytest.raises(ConfigError, match="but --backend loky makes them in several"):
        check_payable(paid, Means(backend="loky"))


@pytest.mark.parametrize(
    "address",
    [
        *(
            "http://127.0.0.1:abc/v1",
            "http://[::1/v1",
            "http://:80/v1",
            "http://a:0",
            "http://a:99999",
        ),
        *(
            "ftp://a/v1",
            "http:///v1",
            "http://a b/v1",
            "http://a/\n",
            "http://a/\x1b[2J",
            "http://é/",
        ),
    ],
)
def test_what_is_no_address(address):
    with pytest.raises(ConfigError, match=r"--api-base must be an address such as .*mend its host"):
        Models("openai/a", api_base=address)
    for usable in ("http://[::1]:80/v1", "https://a.b/v1?x=1", "http://a"):
        assert Models("openai/a", api_base=usable).api_base == usable


@pytest.mark.parametrize(
    "address", ["http://me:s3cret@a/v1", "https://s3cret@a", "http://a:s3cret@b"]
)
def test_an_address_holds_no_key_and_none_is_shown(address):
    with pytest.raises(ConfigError, match="give keys by the environment") as caught:
        Models("openai/a", api_base=address)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("price", ["1e308,1e308", [10**400, 1], "9" * 5000 + ",1"])
def test_a_price_that_nobody_pays(price):
    with pytest.raises(ConfigError, match="--price must be dollars") as caught:
        merge_options(None, {"budget": 60, "model": "openai/a", "price": price})
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"timeout": 86_401.0}, "--timeout must be at most a day"),
        ({"timeout": 1e300}, "--timeout must be at most a day"),
        ({"timeout": float("inf")}, "--timeout must be above 0 seconds, but is inf"),
        ({"cache": "a\0b"}, "--cache must be a folder"),
    ],
)
def test_means_that_nobody_has(given, reason):
    with pytest.raises(ConfigError, match=reason):
        make_means(given)
