"""Scope user: a policy for each user, learned as that user lives, and the same after a stop."""

import json

import pytest

from evolve.config import merge_options
from evolve.display import PlainDisplay
from evolve.estimate import Estimator
from evolve.gym.sample import make_users
from evolve.journal import FILE
from evolve.means import Means
from evolve.policy_run import Watch
from evolve.prepare import prepare
from evolve.roles import make_models
from evolve.user_run import affordable, user_run
from policies.errors import BudgetTooSmallError, ConfigError, RunStoppedError
from policies.policy import read_policy, seed_policy

SEED = seed_policy("awi")


@pytest.fixture
def options(tmp_path):
    users = json.loads(json.dumps(make_users(3, 12, explicitness=1.0)))
    for user in users:
        user |= {"periods": user["periods"][:4], "qas": user["qas"][:4]}
    path = tmp_path / "users.json"
    path.write_text(json.dumps(users))

    def make(**given):
        given = {"budget": 4, "env": str(path), "policy": "awi", "scope": "user", **given}
        return merge_options(None, given)

    return make


@pytest.fixture
def run(options, tmp_path):
    def make(stopping=lambda: False, resume=False, **given):
        watch = Watch(PlainDisplay(), stopping)
        prepared = prepare(options(**given), Means())
        return user_run(prepared, tmp_path / "run", Means(), watch, resume=resume)

    return make


def test_every_user_ends_with_a_policy_of_its_own(run, tmp_path, capsys):
    told = run()
    first, second = (read_policy(path) for path in sorted((tmp_path / "run/policies").iterdir()))
    assert first.texts["memory_types"] != second.texts["memory_types"]
    assert {**first.texts, "memory_types": ""} == {**SEED.texts, "memory_types": ""}
    assert first.lineage.operator == "self-evolution:memory_types"
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert list(summary["periods"]) == ["0", "1", "2", "3", "later half", "all"]
    assert summary["periods"]["0"]["fixed"] == summary["periods"]["0"]["learned"]
    assert summary["periods"]["later half"]["learned"]["n"] == 2 * 2 * 4
    assert (summary["users"], summary["spent"]) == (2, 4.0)
    assert summary["usage"]["rewrite"]["calls"] == 2 * 3  # after every period but the last
    assert told.line in capsys.readouterr().out


def test_without_feedback_nothing_is_learned_and_a_user_costs_one_rollout(run, tmp_path):
    told = run(feedback="none", budget=3)
    assert told.fixed == told.learned
    assert told.gain is None
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert (summary["users"], summary["spent"]) == (3, 3.0)
    assert "rewrite" not in summary["usage"]


@pytest.mark.parametrize("lived", [0, 1, 3])
def test_a_stopped_run_goes_on_to_the_same_bytes(run, tmp_path, lived):
    def asked():
        path = tmp_path / "run" / FILE
        kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
        return sum(kind in {"rollout", "life"} for kind in kinds) >= lived

    with pytest.raises(RunStoppedError):
        run(asked)
    run(resume=True)
    files = [FILE, "summary.json"]
    resumed = [(tmp_path / "run" / name).read_bytes() for name in files]
    (tmp_path / "run").rename(tmp_path / "before")
    run()
    assert [(tmp_path / "run" / name).read_bytes() for name in files] == resumed


def test_a_budget_that_serves_nobody_is_refused(options):
    with pytest.raises(BudgetTooSmallError, match="--budget 2 or more"):
        affordable(prepare(options(budget=1), Means()))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"strategy": "joint"}, "leave --strategy out"),
        ({"budget": "30min"}, "a budget in rollouts"),
        ({"scope": "global", "feedback": "none"}, "give --scope user"),
        ({"max_answer_tokens": 900}, "leave it out"),
        ({"feedback": "some"}, "must be one of none, questions, complete"),
        ({"policy": "rag"}, "needs an architecture with the text memory_types"),
    ],
)
def test_what_does_not_go_with_the_scope_is_refused(options, given, why):
    with pytest.raises(ConfigError, match=why):
        prepare(options(**given), Means())


def test_the_estimate_counts_lives_and_rewrites(options):
    given = {"model": "openai/some", "price": "1,2"}
    asked = options(**given, models=make_models(given))
    estimate = Estimator(prepare(asked, Means()), Means()).of_users(2)
    assert estimate.plan.budget == 4
    assert estimate.amounts["rewrite"].calls == pytest.approx(2 * 3)
    assert estimate.total is not None
    without = Estimator(prepare(options(**given, feedback="none"), Means()), Means()).of_users(2)
    assert without.plan.budget == 2
    assert without.amounts["answer"].calls < estimate.amounts["answer"].calls
