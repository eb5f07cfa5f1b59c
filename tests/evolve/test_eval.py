"""The command that scores policies as they are."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evolve import assess
from evolve.eval import main
from evolve.gym.sample import make_users
from evolve.gym.users import file_digest
from policies.policy import Lineage, seed_policy, write_policy
from tests.clock import cpu_of_children

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    """A file with three users of the sample's kind and four periods."""
    users = make_users(5, 3)
    for user in users:
        del user["periods"][4:]
    path = tmp_path_factory.mktemp("env") / "env.json"
    path.write_text(json.dumps(users))
    return str(path)


@pytest.fixture
def run(capsys):
    """Runs the command in this process and returns what it printed."""

    def go(*options, status=0):
        assert main([*options, "--jobs", "1"] if "--jobs" not in options else options) == status
        out, err = capsys.readouterr()
        return out if status != 2 else err

    return go


def lines(out):
    return [" ".join(line.split()) for line in out.splitlines()]


def test_all_that_is_asked_for_is_printed(env, run):
    printed = lines(run("--policy", "awe", "--against", "native", "--env", env))
    assert printed[0].startswith("model offline: a deterministic stand-in")
    awe, native = (f"{p.name} {p.short_id}" for p in map(seed_policy, ("awe", "native")))
    for title in (
        "Scores",
        "Answers by stage, as shares; probed states, counted",
        "Trace: the step that lost it, as shares of all answers",
        f"By period: {awe}",
        f"Trace by period: {awe}",
        f"By period: {native}",
        f"Paired difference: {awe} less {native}, clusters are users",
        "Spent",
    ):
        assert title in printed
    scores = printed[printed.index("Scores") + 2].removeprefix(awe).split()
    assert scores[0] == "96"
    assert len(scores) == 6
    assert [line.split()[0] for line in printed[printed.index("Spent") + 2 :]] == [
        *("answer", "bound", "probe", "reply", "user", "write")
    ]


def test_tables_and_json_hold_the_same_numbers(env, run):
    options = ("--policy", "awe", "--against", "awi", "--env", env)
    found = json.loads(run(*options, "--json"))
    printed = lines(run(*options))
    assert (found["schema"], found["seed"], found["users"]) == (1, 0, 3)
    for data in found["policies"]:
        total = data["all"]
        stages = ("accuracy", "write", "read", "utilization", "format")
        assert sum(total[stage] for stage in stages) == pytest.approx(1)
        assert sum(period["n"] for period in data["periods"]) == total["n"] == 96
        row = next(
            line for line in printed if line.startswith(f"{data['name']} {data['id'][:8]} 96")
        )
        assert row.endswith(f"{total['memory']:.4f} {data['tokens_per_answer']:.1f}")
        assert sum(total["trace"].values()) == pytest.approx(total["traced"] / 96)
        assert len(data["memory_tokens"]) == 4
    one, other = (data["all"] for data in found["policies"])
    for measure in ("memory", "accuracy"):
        gain = found["difference"][measure]
        assert gain["mean"] == pytest.approx(one[measure] - other[measure])
        assert gain["low"] <= gain["mean"] <= gain["high"]
        assert gain["users"] == 3
    memory = found["difference"]["memory"]
    assert f"[{memory['low']:.4f}, {memory['high']:.4f}]" in "\n".join(printed)


def test_processes_change_nothing_and_another_seed_does(env, run):
    options = ("--policy", "awi", "--against", "rag", "--env", env, "--json")
    found = run(*options)
    assert run(*options, "--jobs", "2") == found
    assert run(*options, "--seed", "1") != found


def test_rounds_and_users(env, run):
    options = ("--policy", "none", "--env", env, "--json")
    assert json.loads(run(*options, "--users", "2"))["users"] == 2
    assert json.loads(run(*options, "--users", "99"))["users"] == 3
    options = ("--policy", "native", "--env", env, "--json", "--users", "1")
    replies = []
    for first, later in ((1, 1), (1, 2), (3, 2)):
        given = (*options, "--first-rounds", str(first), "--later-rounds", str(later))
        replies.append(json.loads(run(*given))["policies"][0]["usage"]["reply"]["calls"])
    assert replies[0] < replies[1] < replies[2]


def test_a_single_user_has_no_interval(env, run):
    options = ("--policy", "awe", "--against", "awi", "--env", env, "--users", "1")
    assert json.loads(run(*options, "--json"))["difference"]["accuracy"]["low"] is None
    assert "none from one user" in run(*options)


def test_without_known_turns_there_is_no_trace_and_outside_the_lexicon_it_says_so(
    tmp_path, tiny, run
):
    path = tmp_path / "env.json"
    path.write_text(json.dumps(tiny()).replace('"drink"', '"omen"'))
    out = run("--policy", "awi", "--env", str(path))
    assert "outside the offline model's lexicon" in out
    assert "Trace" not in out
    assert "Paired difference" not in out


def test_an_evolved_policy_is_flattered_only_where_it_was_evolved(env, tmp_path, run):
    for environment, flattered in [("0123", False), (file_digest(env), True)]:
        lineage = Lineage((), 1, "rewrite", None, "run-7", environment)
        write_policy(replace(seed_policy("none"), lineage=lineage), tmp_path / "best.yaml")
        out = run("--policy", str(tmp_path / "best.yaml"), "--env", env)
        assert ("was evolved on these very users (run run-7): those that it" in out) == flattered


def test_evolved_and_equal_policies_are_named(env, tmp_path, run):
    lineage = Lineage((), 1, "rewrite", None, "run-7")
    evolved = seed_policy("none").derive(name="best", lineage=lineage)
    write_policy(evolved, tmp_path / "best.yaml")
    out = run("--policy", str(tmp_path / "best.yaml"), "--against", "none", "--env", env)
    assert "was evolved on users not named in it (run run-7): those that it learned from" in out
    assert "one and the same" in out
    assert "+0.0000 [0.0000, 0.0000]" in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--policy", "nope"), "there is no seed policy 'nope'"),
        (
            ("--policy", "awe", "--against", "nope.yaml"),
            "nope.yaml: the policy file cannot be read",
        ),
        (("--policy", "awe", "--env", "nope.json"), "There is no file nope.json"),
        *(
            (("--policy", "awe", f"--{name}", value), f"--{name} must be at least {least}")
            for name, value, least in (
                *(("users", "0", 1), ("seed", "-1", 0), ("jobs", "0", 1)),
                *(("first-rounds", "0", 1), ("later-rounds", "0", 1)),
            )
        ),
    ],
)
def test_mistakes_are_one_line_and_status_2(run, options, said):
    err = run(*options, status=2)
    assert err.startswith(f"error: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("users", "told"), [("4", True), ("3", False)])
def test_fewer_users_than_were_asked_for_are_told(env, run, users, told):
    out = run("--policy", "none", "--env", env, "--users", users)
    assert ("--users asks for 4, but --env holds 3: all of them are scored\n" in out) == told


@pytest.mark.parametrize(
    ("kind", "status", "whose"), [("policy", 1, "its own fault"), ("outside", 0, "from outside")]
)
def test_failures_are_told_and_left_out(env, run, monkeypatch, kind, status, whose):
    lived = assess._live

    def failing(*arguments):
        found = lived(*arguments)
        for rollouts in found.values():
            rollouts[0] = replace(rollouts[0], failure="too long", failure_kind=kind)
        return found

    monkeypatch.setattr(assess, "_live", failing)
    out = run("--policy", "none", "--env", env, status=status)
    assert f"who is left out ({whose}): too long" in out
    failures = json.loads(run("--policy", "none", "--env", env, "--json", status=status))[
        "failures"
    ]
    assert [(f["kind"], f["reason"]) for f in failures] == [(kind, "too long")]


def test_ctrl_c_is_told_in_one_line(env, monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(assess, "_live", interrupted)
    assert main(["--policy", "none", "--env", env, "--jobs", "1"]) == 130
    assert capsys.readouterr() == ("", "stopped; nothing was kept\n")


def test_help_is_fast_and_says_what_the_model_is():
    command = [sys.executable, "-m", "evolve.eval", "--help"]
    before = cpu_of_children()
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert cpu_of_children() - before < 0.5  # 0.1 when measured; LiteLLM takes seconds
    assert "stand-in that is not an LLM" in " ".join(process.stdout.split())
    assert process.stderr == ""


def test_the_memory_gain_is_told_where_it_is_asked_for(env, run):
    out = run("--policy", "rag", "--gain", "--env", env, "--users", "2")
    rag, native = (f"{p.name} {p.short_id}" for p in map(seed_policy, ("rag", "native")))
    assert "none and native live through the same users, too" in out
    assert f"{rag} less none" in out
    assert f"{rag} less native" in out
    assert f"By period: {native}" not in out
    found = json.loads(run("--policy", "rag", "--gain", "--env", env, "--users", "2", "--json"))
    assert found["memory_gain"].keys() == {"none", "native"}
    assert found["difference"] is None
    without = json.loads(run("--policy", "rag", "--env", env, "--users", "2", "--json"))
    assert without["memory_gain"] == {}
    assert without["policies"] == found["policies"]
