"""The loop from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evolve
from evolve.agents.example import UserWords
from evolve.api import read
from evolve.gym.sample import make_users
from policies.errors import ConfigError, RunFolderError, UserError
from policies.policy import seed_policy


@pytest.fixture
def env(tmp_path: Path) -> str:
    users = make_users(3, 12, explicitness=1.0)
    for user in users:
        user |= {"periods": user["periods"][:3], "qas": user["qas"][:3]}
    path = tmp_path / "users.json"
    path.write_text(json.dumps(users))
    return str(path)


class Own(UserWords):
    """Of this test alone."""


@pytest.mark.extra
def test_a_run_is_what_the_command_makes(env, tmp_path, capsys) -> None:
    start = seed_policy("awe").derive(settings={"top_k": 1})
    done = evolve.run(41, policy=start, env=env, folder=tmp_path / "runs" / "a", jobs=1)
    assert capsys.readouterr().out.startswith(f"run {tmp_path}")
    assert done.folder == tmp_path / "runs" / "a"
    assert done.summary == json.loads((done.folder / "summary.json").read_text())
    assert done.summary["seed_policy"] == start.id
    assert done.best is not None
    before = {path: path.read_bytes() for path in done.folder.rglob("*.[jy]*")}
    again = evolve.run(folder=done.folder, quiet=True, jobs=1)
    assert again == done
    assert capsys.readouterr().out == ""
    assert {path: path.read_bytes() for path in done.folder.rglob("*.[jy]*")} == before


@pytest.mark.extra
def test_an_agent_and_scope_user(env, tmp_path) -> None:
    done = evolve.run(41, agent=Own, env=env, folder=tmp_path / "own", quiet=True)
    assert done.best is not None
    assert done.best.architecture == f"{Own.__module__}:Own"
    assert (
        "agent"
        in json.loads((done.folder / "journal.jsonl").read_text().split("\n")[0])["data"]["options"]
    )
    own = evolve.run(24, policy="awi", env=env, scope="user", folder=tmp_path / "u", quiet=True)
    assert (own.best, own.summary["scope"]) == (None, "user")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs a budget"),
        ({"budget": 41, "sed": 3}, "'sed' is none; did you mean seed"),
        ({"budget": 41, "polcy": "awe"}, "did you mean policy.* folder, .* later_rounds, .* quiet"),
        ({"budget": 41, "resume": "x"}, "'resume' is none; there are address, agent, "),
        ({"budget": 41, "seed": "x"}, "seed must be a whole number, but evolve.run has 'x'"),
        ({"budget": 41, "seed": -1}, "--seed must be"),
        ({"budget": "many"}, "--budget"),
        ({"budget": 41, "policy": "nope"}, "no seed policy 'nope'"),
        ({"budget": 41, "agent": int}, "neither texts nor settings"),
        ({"budget": 2}, "do not; give --budget"),
        ({"budget": 41, "agent": 5}, "is a class, or its name as package:Class, but is 5; hand"),
        ({"budget": 41, "agent": []}, r"or its name as package:Class, but is \[\]"),
        ({"budget": 41, "env": ""}, "named by its path, but the one given is blank"),
        ({"budget": 41, "policy": 5}, "policy of evolve.run is a path as text .* but is 5; name"),
        ({"budget": 41, "policy": "\0.yaml"}, "policy of evolve.run is a path as text"),
    ],
)
def test_mistakes_are_told_and_leave_no_folder(options, said, tmp_path) -> None:
    with pytest.raises(UserError, match=said):
        evolve.run(**options, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("folder", [5, [], b"x", "\0"])
def test_a_folder_that_is_no_path_is_told(folder) -> None:
    with pytest.raises(ConfigError, match=r"folder of evolve\.run is a path as text or a Path"):
        evolve.run(41, folder=folder)


def test_a_folder_whose_name_is_too_long_is_told(env) -> None:
    with pytest.raises(RunFolderError, match="cannot be written"):
        evolve.run(74, env=env, folder="x" * 300, quiet=True)


@pytest.mark.parametrize("folder", ["/", "."])
def test_a_policy_of_no_file_needs_a_folder_to_stand_beside(folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="is written beside the folder of the run, but folder is"):
        evolve.run(41, policy=seed_policy("awe"), folder=folder)


def test_a_folder_that_holds_no_run_that_ended(tmp_path) -> None:
    with pytest.raises(RunFolderError, match="go on with the run first"):
        read(tmp_path)
    with pytest.raises(ConfigError, match="needs a budget"):
        evolve.run(folder=tmp_path)
