"""The seed at default settings: which it is, and that it is scored as a comparison would."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.defaults import at_defaults, over_defaults
from benchmarks.runs import RunSpec, execute
from evolve import finish
from evolve.assess import assess
from evolve.config import Options
from evolve.gym.rollout import Span
from evolve.gym.sample import make_users, write_users
from evolve.gym.users import load_users
from evolve.lm.models import ModelSpec
from evolve.workers import BoundTask, HereWorkers, LiveTask, WorldSpec
from feedback.diagnosis import diagnose
from feedback.scores import score
from policies.difference import diff_policies
from policies.policy import Policy, seed_policy


def test_the_default_is_the_seed_with_other_settings_alone() -> None:
    awe = at_defaults(seed_policy("awe"))
    assert awe is not None
    assert diff_policies(seed_policy("awe"), awe).splitlines() == [
        "write_every: 4 → 2",
        "top_k: 10 → 30",
        "memory_order: relevance → time",
    ]
    assert at_defaults(awe) is None
    assert at_defaults(seed_policy("native")) is None


def scored(policy: Policy, env: Path, spec: WorldSpec) -> finish.Tested:
    users = load_users(env)[1:]
    lived = [(LiveTask(spec, policy, user, Span())(), user) for user in users]
    diagnoses = tuple(d for rollout, user in lived for d in diagnose(rollout, user.truth()))
    bounds = {key: bound for user in users for key, bound in BoundTask(spec, user)()[0].items()}
    return finish.Tested(policy, diagnoses, score(diagnoses, bounds), None)


def test_it_is_scored_on_the_test_users_as_a_comparison_would(tmp_path: Path) -> None:
    env = tmp_path / "env.json"
    write_users(make_users(5, 3), env)
    options = Options(budget=1, env=str(env), seed=7)
    spec = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 7, 1, 2)
    awe = seed_policy("awe")
    default = at_defaults(awe)
    assert default is not None
    seed = scored(awe, env, spec)
    memory, over = over_defaults(finish.Outcome({"seed": seed, "best": seed}, None, None), options)
    both = assess([awe, default], load_users(env)[1:], spec, HereWorkers())
    assert both.memory is not None
    assert memory == both.assessed[1].total.memory
    assert over == pytest.approx(both.memory.mean)
    assert over != 0
    same = {"seed": scored(default, env, spec), "best": seed}
    assert over_defaults(finish.Outcome(same, None, None), options) == (None, None)


def test_a_run_is_held_against_the_defaults_and_a_placebo_is_not(tmp_path: Path) -> None:
    env = tmp_path / "env.json"
    write_users(make_users(5, 15), env)
    found = {
        strategy: execute(RunSpec("sample", "awi", strategy, 1, 45, "users"), env)
        for strategy in ("joint", "placebo")
    }
    joint, placebo = found["joint"], found["placebo"]
    assert (placebo.default_memory, placebo.over_default) == (None, None)
    assert joint.best_memory is not None
    assert joint.default_memory is not None
    assert joint.over_default == pytest.approx(joint.best_memory - joint.default_memory)
    assert joint.spent <= 45
    for run in found.values():
        assert run.low is not None or run.gain == 0.0
        assert run.accepted or run.gain == 0.0
