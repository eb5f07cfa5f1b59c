"""The estimate before a run: rehearsed with a stand-in, priced, and turned into a plan."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace

import pytest

from evolve import preview as preview_module
from evolve.config import Options
from evolve.estimate import MARGIN, Estimate, Estimator
from evolve.gym.sample import make_users
from evolve.journal import Journal
from evolve.loop import main
from evolve.means import Means
from evolve.prepare import prepare
from evolve.preview import agreed
from evolve.roles import Models
from evolve.units import parse_units, write_unit
from policies.errors import BudgetTooSmallError, ConfigError

REAL = Models("openai/x", price=(0.4, 1.6))
MEANS = Means(concurrency=4)


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    users = make_users(3, 12)
    for user in users:
        user |= {"periods": user["periods"][:4], "qas": user["qas"][:4]}
    path = tmp_path_factory.mktemp("env") / "env.json"
    path.write_text(json.dumps(users))
    return str(path)


@pytest.fixture(scope="module")
def estimator(env):
    return Estimator(prepare(Options(60, env, models=REAL), MEANS), MEANS)


def test_calls_are_those_of_the_plan(estimator):
    found = estimator.of(60)
    lived = evolving(found.plan) + 3 * len(found.plan.test)
    of = {role: amount.calls + amount.cached for role, amount in found.amounts.items()}
    assert of["probe"] == pytest.approx(16 * lived, rel=0.05)
    assert of["answer"] == pytest.approx(16 * (lived + len(found.plan.test)), rel=0.05)
    assert 0 < of["write"] < of["reply"]
    assert 1 <= of["rewrite"] < 20
    assert found.amounts["reply"].cached > 0
    assert estimator.of(60) == found


def evolving(plan):
    """Rollouts until the budget is spent."""
    return float(plan.budget - plan.set_aside) - 2


def test_needs_are_those_of_the_calls(estimator, env):
    found = estimator.of(60)
    for role, amount in found.amounts.items():
        tokens = 0.4 * amount.prompt_tokens + 1.6 * amount.completion_tokens
        assert found.dollars[role] == pytest.approx(tokens / 1e6, rel=1e-3)
    assert found.total == pytest.approx(sum(found.dollars.values()))
    assert 0 < found.kept["dollars"] < MARGIN * found.total
    called = found.amounts.values()
    assert found.needs["calls"] == pytest.approx(sum(each.calls for each in called))
    assert found.needs["minutes"] == pytest.approx(found.needs["calls"] / 4 / 60)
    ours, played = found, replace(REAL, user_model="offline")
    part = Estimator(prepare(Options(60, env, models=played), MEANS), MEANS).of(60)
    assert part.needs["calls"] == pytest.approx(ours.needs["calls"] - ours.amounts["user"].calls)


@pytest.mark.parametrize(
    ("unit", "most", "little"),
    [("dollars", 2.0, 0.1), ("calls", 9000, 10), ("tokens", 5_000_000, 100)],
)
def test_a_unit_buys_as_many_rollouts_as_it_pays_for(estimator, unit, most, little):
    found = estimator.within({unit: most})
    assert MARGIN * found.needs[unit] <= most
    assert most < MARGIN * estimator.of(found.plan.budget + 1).needs[unit]
    told = re.escape(write_unit(unit, little))
    with pytest.raises(BudgetTooSmallError, match=rf"but {told} does not; give --budget ") as e:
        estimator.within({unit: little})
    assert " or more, which is the estimate and a fifth for longer replies" in str(e.value)
    named = str(e.value).partition("--budget ")[2].partition(" or more")[0].strip("'")
    assert estimator.within(parse_units(named)).plan.candidates == 1


def test_of_several_units_the_first_one_counts(estimator):
    calls = estimator.within({"calls": 9000}).plan.budget
    assert estimator.within({"rollouts": calls - 1, "calls": 9000}).plan.budget == calls - 1
    assert estimator.within({"rollouts": 999, "calls": 9000}).plan.budget == calls
    assert estimator.within({"calls": 9000, "dollars": 99.0}).plan.budget == calls
    assert estimator.within({"rollouts": 60, "minutes": 0.1}).plan.budget == 60
    assert estimator.within({"calls": 9000, "minutes": 0.1}).plan.budget == calls


def test_minutes_alone_make_a_plan_however_few(estimator):
    found = estimator.within({"minutes": 90.0})
    assert MARGIN * found.needs["minutes"] <= 90
    assert MARGIN * estimator.of(found.plan.budget + 1).needs["minutes"] > 90
    assert estimator.within({"minutes": 0.1}).plan.budget == prepare_smallest(estimator)


def prepare_smallest(estimator):
    return estimator._prepared.smallest


def test_models_without_a_price_or_free_ones_need_rollouts(env, monkeypatch):
    monkeypatch.setattr("evolve.lm.prices._known", lambda name: None)
    unpriced = Models("openai/x", "offline", "openai/y")
    estimator = Estimator(prepare(Options(60, env, models=unpriced), MEANS), MEANS)
    assert estimator.of(60).total is None
    assert estimator.of(60).dollars["user"] == 0.0
    with pytest.raises(ConfigError, match=r"none is known for openai/x, openai/y; give it by --pr"):
        estimator.within({"dollars": 5.0})
    free = replace(REAL, price=(0.0, 0.0))
    with pytest.raises(ConfigError, match="the price of all is 0; give a number of rollouts"):
        Estimator(prepare(Options(60, env, models=free), MEANS), MEANS).within({"dollars": 5.0})


@pytest.mark.parametrize("policy", ["none", "native", "rag", "awi"])
def test_every_architecture(env, policy):
    estimator = Estimator(prepare(Options(60, env, policy), MEANS), MEANS)
    assert estimator.of(60).amounts["answer"].calls > 0


@pytest.mark.parametrize("policy", ["none", "native", "awi"])
def test_it_lies_half_way_between_both_ways_of_probing(env, policy, monkeypatch):
    options, tokens = Options(60, env, policy, models=REAL), []
    for possible in (("none", "native", "awi"), ()):
        monkeypatch.setattr("evolve.rehearsal.SAME_SHOWN", possible)
        tokens.append(Estimator(prepare(options, MEANS), MEANS).of(60).needs["tokens"])
    half_way, single = tokens
    assert 0.8 * single < half_way < 1.3 * single
    assert half_way != single


def test_by_time(env):
    options = Options(60, env, "rag", holdout="periods")
    with pytest.raises(ConfigError, match="no outcome could pass"):
        Estimator(prepare(replace(options, holdout="users", env=env), MEANS), MEANS).of(10**6)
    found = Estimator(prepare(options, MEANS), MEANS).of(200)
    assert found.amounts["reply"].calls > 0


def test_a_dry_run_says_it_and_leaves_nothing(env, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["--budget", "60", "--env", env, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Estimate: 60 rollouts, about ")
    assert "at the gate; offline, nothing to pay\n" in out
    line = ["--env", env, "--model", "openai/x", "--price", "0.4,1.6", "--dry-run"]
    assert main(["--budget", "$2", *line]) == 0
    out = capsys.readouterr().out
    assert "; about $1." in out
    *rows, total = [line.split()[1:] for line in out.splitlines()[2:-1]]
    sums = [sum(float(cell) for cell in column) for column in zip(*rows, strict=True)]
    assert [float(cell) for cell in total] == pytest.approx(sums, abs=1e-6)
    assert main(["--budget", "60,30min", *line]) == 0
    out = capsys.readouterr().out
    assert " minutes; assumed: 1 s for a call of a model, 8 of them at once\n" in out
    assert main(["--budget", "$0.01", *line]) == 2
    assert "$0.01 does not; give --budget '$" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_estimate_of_a_resumed_run_is_said_to_be_of_the_whole(env, tmp_path, capsys):
    with Journal(tmp_path, {"options": Options(60, env).as_dict()}, resume=False):
        pass
    assert main(["--resume", str(tmp_path), "--dry-run"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "this is the estimate of the whole run, what it has called already included"
    assert second.startswith("Estimate: 60 rollouts")


@pytest.fixture
def terminal(monkeypatch):
    """A terminal at which somebody answers; what they are asked is kept."""
    asked: list[str] = []

    def answers(answer: str | None) -> list[str]:
        def ask(prompt: str) -> str:
            asked.append(prompt)
            if answer is None:
                raise EOFError
            return answer

        monkeypatch.setattr("builtins.input", ask)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        return asked

    return answers


@pytest.mark.parametrize(
    ("answer", "agrees"), [("y", True), ("Yes ", True), ("", False), ("n", False), (None, False)]
)
def test_much_money_is_asked_for_on_a_terminal(terminal, estimator, answer, agrees):
    asked = terminal(answer)
    found = estimator.of(200)
    assert agreed(found, Options(200, models=REAL)) is agrees
    assert agreed(found, Options("$5", models=REAL)) is agrees
    assert len(asked) == 2
    assert asked[1] == "this may pay $5.00; go on? [y/N] "
    assert agreed(found, Options("$1", models=REAL))
    assert len(asked) == 2
    unpriced = Estimate(found.plan, {}, {"reply": None}, {"dollars": None}, {})
    assert agreed(unpriced, Options(200, models=REAL)) is agrees
    assert asked[2:] == ["what this costs is unknown (unpriced); go on? [y/N] "]


def test_elsewhere_nobody_is_asked_and_yes_says_it_before(env, terminal, estimator, monkeypatch):
    assert agreed(estimator.of(200), Options(200, models=REAL))
    begun = []
    monkeypatch.setattr("evolve.policy_run.policy_run", lambda *_, **given: begun.append(given))
    terminal("n")
    line = ["--env", env, "--budget", "200", "--model", "openai/x", "--price", "0.4,1.6"]
    assert main(line) == 1
    assert begun == []
    assert main([*line, "--yes"]) == 0
    assert begun[0]["estimate"].plan.budget == 200
    monkeypatch.setattr(preview_module, "preview", pytest.fail)
    assert main(["--env", env, "--budget", "60"]) == 0  # nothing to pay, nothing to say
