"""One run in this process: what it introduces itself with, and what it leaves."""

import json

import pytest

from evolve import policy_run as module
from evolve.config import Options
from evolve.display import PlainDisplay
from evolve.gym.sample import make_users
from evolve.inputs import OUTSIDE_LEXICON, load_policy
from evolve.means import Means
from evolve.policy_run import LITTLE_POWER, Watch, policy_run
from policies.errors import ConfigError, PolicyFileError, RunStoppedError
from policies.policy import read_policy, seed_policy, write_policy


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    """Four users of four periods with three questions: to be split by time."""
    users = make_users(5, 4)
    for user in users:
        user |= {"periods": user["periods"][:4], "qas": user["qas"][:3]}
    path = tmp_path_factory.mktemp("env") / "env.json"
    path.write_text(json.dumps(users))
    return str(path)


def watch(stopping=lambda: False):
    return Watch(PlainDisplay(), stopping)


def test_a_run_by_time_from_its_options_to_its_files(env, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module, "_share", lambda field: 0.49)
    options = Options(41, env=env, policy="rag")
    outcome = policy_run(options, tmp_path / "run", Means(), watch())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"run {tmp_path}/run: 41 rollouts buy about ")
    assert lines[2:4] == [OUTSIDE_LEXICON, LITTLE_POWER]
    assert lines[-2] == outcome.line
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    best = read_policy(tmp_path / "run" / "best.yaml")
    assert summary["best_policy"] == best.id == outcome.tested["best"].policy.id
    assert best.scores["split"] == "test"
    assert best.scores["answers"] == 12
    assert best.scores["memory"] == summary["test"]["best"]["memory"]
    assert best.lineage.run in (None, "run")


def test_asked_to_stop_before_the_first_rollout_nothing_is_spent(env, tmp_path):
    with pytest.raises(RunStoppedError):
        policy_run(Options(41, env=env), tmp_path / "run", Means(), watch(lambda: True))
    journal = (tmp_path / "run" / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in journal] == ["run", "introduction"]


def test_what_is_refused_makes_no_folder(env, tmp_path):
    with pytest.raises(ConfigError):
        policy_run(Options(41, env=env, holdout="users"), tmp_path / "run", Means(), watch())
    assert not (tmp_path / "run").exists()


def test_a_policy_by_name_or_by_path(tmp_path):
    mine = seed_policy("awe").derive(settings={"top_k": 7})
    write_policy(mine, tmp_path / "awi")
    assert load_policy("awi").architecture == "awi"
    assert load_policy(str(tmp_path / "awi")).id == mine.id
    with pytest.raises(PolicyFileError, match=r"missing\.yaml"):
        load_policy("missing.yaml")
