"""The whole loop with a provider on loopback: keys, faults, ends, resumes, caches, dollars."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.openai_server import Faults, OpenAIServer
from evolve.gym.sample import make_users
from evolve.lm.base import Message, Request
from evolve.lm.calls import request_key
from policies.policy import seed_policy, write_policy
from tests.clock import cpu_of_children

KEY = "sk-q7Zw3-9LmXv2TbR8fKd4HsY6nPc1Gj5Ua0E"
WRONG = "sk-Vb8Nt-4QeRz7WkJ2yMf9XcA3uHg6Dp5Lo1S"
MODEL = "openai/offline"
FAULTS = Faults(
    rate_limit=0.01,
    server_error=0.01,
    hang=0.005,
    cut=0.01,
    malformed=0.01,
    truncated=0.005,
    retry_after=0.2,
    hang_seconds=6,
)
TIMEOUT = 4  # seconds: less than a hang, and more than an answer takes on a busy machine
# Seeds of environments; the first whose run accepts two versions is taken.
ENV_SEEDS = (4, 3, 1, 7)
SMALL, LARGE = 40, 150  # rollouts


@dataclass
class Stage:
    """A server, and what a run against it is started with."""

    server: OpenAIServer
    place: Path
    options: list[str] = field(default_factory=list)

    def line(self, runs: Path, *more: object) -> list[object]:
        model = ["--model", MODEL, "--api-base", self.server.base_url]
        return [*self.options, *model, "--runs", runs, "--name", "run", *more]

    def asked(self, since: int = 0) -> list[str]:
        """Keys of what was asked, as the log of calls writes them, after so many requests."""
        return [key_of(body, self.server.base_url) for body in list(self.server.bodies)[since:]]


def key_of(body: dict, api_base: str) -> str:
    messages = tuple(Message(each["role"], each["content"]) for each in body["messages"])
    most = body.get("max_tokens") or body["max_completion_tokens"]
    request = Request("reply", messages, body["seed"], most, body["temperature"])
    return request_key(f"openai/{body['model']}", api_base, request)


def environment(path: Path, seed: int, users: int, questions: int) -> str:
    made = make_users(seed, users, explicitness=1.0)  # what is plain makes gains large
    for user in made:
        user |= {"periods": user["periods"][:2], "qas": user["qas"][:questions]}
    path.write_text(json.dumps(made))
    return str(path)


def calls(folder: Path) -> list[dict]:
    """What the log of calls holds; a kill may have torn its last line."""
    path = folder / "calls.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def paid_keys(folder: Path) -> set[str]:
    return {call["key"] for call in calls(folder)}


def found(folder: Path) -> dict[str, object]:
    """All that a run found; what it paid, and how it went, may differ."""
    files: dict[str, object] = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {"run.log", "calls.jsonl"}
    }
    summary = json.loads((folder / "summary.json").read_text())
    del summary["paid"]
    return files | {"summary.json": summary}


def journal(folder: Path) -> list[bytes]:
    return (folder / "journal.jsonl").read_bytes().splitlines()


def holds_a_piece(key: str, place: Path, *said: str) -> list[str]:
    """Which of what a command left and said holds eight characters of a key in a row."""
    pieces = [key[start : start + 8].encode() for start in range(len(key) - 7)]
    texts = {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    texts |= {f"said {number}": text.encode() for number, text in enumerate(said)}
    return [name for name, text in texts.items() if any(piece in text for piece in pieces)]


@pytest.fixture
def small(tmp_path):
    """As short a run as can be, not begun; its server wants a key and has one model."""
    with OpenAIServer(key=KEY, model="offline") as server:
        env = environment(tmp_path / "small.json", 3, 12, 3)
        yield Stage(server, tmp_path, ["--env", env, "--later-rounds", "1"])


def test_a_wrong_key(command, small, wait_until):
    command.variables["OPENAI_API_KEY"] = WRONG
    line = small.line(command.place / "runs", "--budget", SMALL)
    cpu, wall = cpu_of_children(), time.monotonic()
    assert command.run(*line, "--dry-run").returncode == 0  # looks prices up: imports LiteLLM, too
    cpu, wall = cpu_of_children() - cpu, time.monotonic() - wall
    assert small.server.record.requests == 0
    before = cpu_of_children()
    process = command.start(*line)
    wait_until(lambda: small.server.record.requests or process.poll() is not None)
    asked = time.monotonic()
    out, err = process.communicate()
    assert time.monotonic() - asked < 5 * max(wall / cpu, 1)  # a busy machine takes longer
    assert cpu_of_children() - before - cpu < 5
    assert (process.returncode, small.server.record.statuses) == (2, {401: 1})
    assert (err.startswith("error: "), err.count("\n"), MODEL in err) == (True, 1, True)
    assert holds_a_piece(WRONG, command.place / "runs", out, err) == []


def test_an_unknown_model(command, small):
    command.variables["OPENAI_API_KEY"] = KEY
    line = small.line(command.place / "runs", "--budget", SMALL)
    done = command.run(*line, "--model", "openai/nothing")
    assert (done.returncode, small.server.record.statuses) == (2, {404: 1})
    assert done.stderr.count("\n") == 1
    assert "openai/nothing" in done.stderr


def test_what_is_said_and_refused_before_anything_is_sent(command, small):
    line = small.line(command.place / "runs")
    done = command.run(*line, "--budget", SMALL, "--dry-run", "--price", "0.4,1.6")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.match(rf"Estimate: {SMALL} rollouts, .*; about \$0\.\d+\n", done.stdout)
    assert "--price IN,OUT" in command.refused(*line, "--budget", "$5")
    assert small.server.record.requests == 0
    assert not (command.place / "runs").exists()


def test_a_key_in_a_file_is_in_no_other(command, small):
    (command.place / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    line = small.line(command.place / "runs", "--budget", SMALL, "--concurrency", 64)
    done = command.run(*line)
    assert (done.returncode, done.stderr) == (0, "")
    assert small.server.record.statuses.keys() == {200}
    assert holds_a_piece(KEY, command.place / "runs", done.stdout) == []
    assert len(calls(command.place / "runs" / "run")) == small.server.record.requests


@pytest.mark.extra
def test_dollars_hold(command, small):
    command.variables["OPENAI_API_KEY"] = KEY
    line = small.line(command.place / "runs", "--price", "0.4,1.6", "--concurrency", 64)
    said = command.refused(*line, "--budget", "$0.01")
    budget = float(re.search(r"--budget '\$([\d.]+)'", said)[1])
    done = command.run(*line, "--budget", f"${budget}")
    assert (done.returncode, done.stderr) == (0, "")
    folder = command.place / "runs" / "run"
    spent = sum(call["dollars"] for call in calls(folder))
    assert budget / 4 < spent <= budget
    for share in (0.5, 0.8):
        assert done.stdout.count(f"{share:.0%} of the budget") == (spent >= share * budget)
    paid = json.loads((folder / "summary.json").read_text())["paid"].values()
    assert sum(role["dollars"] for role in paid) == pytest.approx(spent)
    assert holds_a_piece(KEY, command.place, done.stdout) == []


@dataclass
class Calm(Stage):
    """A finished run that accepted two versions, without faults; its server goes on.

    Attributes:
        folder: Of the run.
        out: What it printed.
    """

    folder: Path = Path()
    out: str = ""


@pytest.fixture(scope="module")
def calm(tmp_path_factory, new_command):
    place = tmp_path_factory.mktemp("calm")
    # One memory in view and no window: much is gained by settings, and then by texts.
    weak = {"top_k": 1, "local_window": 0, "write_every": 2}
    policy = place / "weak.yaml"
    write_policy(seed_policy("awe").derive(settings=weak, name="weak"), policy)
    with OpenAIServer(key=KEY, bodies=deque()) as server:
        for seed in ENV_SEEDS:
            env = environment(place / f"users-{seed}.json", seed, 36, 4)
            options = ["--env", env, "--policy", str(policy), "--holdout", "users"]
            options += ["--later-rounds", "1", "--budget", str(LARGE)]
            made = Calm(server, place, options, place / str(seed) / "run")
            line = made.line(place / str(seed), "--concurrency", 64, "--cache", place / "cache")
            done = new_command(place, OPENAI_API_KEY=KEY).run(*line)
            assert (done.returncode, done.stderr) == (0, "")
            if len(list((made.folder / "policies").glob("*.yaml"))) >= 2:
                made.out = done.stdout
                yield made
                return
    pytest.fail(f"none of the environments {ENV_SEEDS} gives two versions: look for another")


@pytest.mark.extra
def test_faults_on_the_way_change_nothing(command, calm):
    command.variables["OPENAI_API_KEY"] = KEY
    before = calm.server.record.faults
    calm.server.faults = FAULTS
    try:
        limits = ["--concurrency", 64, "--timeout", TIMEOUT]
        done = command.run(*calm.line(command.place / "runs", *limits))
    finally:
        calm.server.faults = None
    assert done.returncode == 0
    told = done.stderr.splitlines()
    assert told
    assert all(line.startswith("calls are tried again: ") for line in told)
    assert before == {}
    assert len(calm.server.record.faults) == 6  # every kind
    assert found(command.place / "runs" / "run") == found(calm.folder)


@pytest.mark.extra
def test_one_call_at_a_time_gives_the_same_bytes(command, calm):
    command.variables["OPENAI_API_KEY"] = KEY
    done = command.run(*calm.line(command.place / "runs", "--concurrency", 1))
    assert (done.returncode, done.stderr) == (0, "")
    folder = command.place / "runs" / "run"
    assert found(folder) == found(calm.folder)
    assert len(calls(folder)) == len(calls(calm.folder))
    assert holds_a_piece(KEY, command.place, done.stdout) == []


@pytest.mark.extra
def test_a_shared_cache_answers_a_second_run(command, calm):
    before = calm.server.record.requests
    line = calm.line(command.place / "runs", "--name", "other", "--cache", calm.place / "cache")
    done = command.run(*line)  # and no key is needed
    assert (done.returncode, done.stderr) == (0, "")
    assert calm.server.record.requests == before
    header, *events = journal(command.place / "runs" / "other")
    others = journal(calm.folder)
    assert events == others[1:]
    data, theirs = json.loads(header)["data"], json.loads(others[0])["data"]
    assert data == {**theirs, "run": "other"}


@pytest.mark.extra
def test_killed_and_resumed_it_asks_nothing_again(command, calm, wait_until):
    command.variables["OPENAI_API_KEY"] = KEY
    draw = random.Random(7)
    whole = (calm.folder / "calls.jsonl").stat().st_size
    folder = command.place / "runs" / "run"
    log = folder / "calls.jsonl"
    first, paid = len(calm.server.bodies), set()
    since, arguments = first, calm.line(command.place / "runs")
    for at in sorted(draw.uniform(0.05, 0.95) * whole for _ in range(3)):
        process = command.start(*arguments)
        wait_until(
            lambda at=at, process=process: (
                process.poll() is not None or (log.exists() and log.stat().st_size >= at)
            )
        )
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert paid.isdisjoint(calm.asked(since))
        paid, since = paid_keys(folder), len(calm.server.bodies)
        arguments = ["--resume", folder]
    done = command.run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert paid.isdisjoint(calm.asked(since))
    assert found(folder) == found(calm.folder)
    asked = calm.asked(first)
    assert set(asked) == paid_keys(folder)
    assert len(asked) - len(set(asked)) <= 3 * 16  # those in flight at each of the three


@pytest.mark.extra
def test_a_server_that_goes_down_stops_the_run(command, calm, wait_until):
    command.variables["OPENAI_API_KEY"] = KEY
    folder = command.place / "runs" / "run"
    with OpenAIServer(key=KEY, bodies=deque()) as server:
        port, stage = int(server.base_url.split(":")[2].split("/")[0]), Stage(server, calm.place)
        stage.options = calm.options
        process = command.start(*stage.line(command.place / "runs", "--concurrency", 32))
        wait_until(lambda: server.record.requests >= 400 or process.poll() is not None)
    _, said = process.communicate()
    assert process.returncode == 2
    *told, error = said.splitlines()
    assert error.startswith("error: At most a fifth of a run's rollouts may fail for outside")
    assert told
    assert all(line.startswith("calls are tried again: ") for line in told)
    assert told[0].split(" (")[0] in (folder / "run.log").read_text()
    paid = paid_keys(folder)
    assert len(paid) > 300
    with OpenAIServer(key=KEY, bodies=deque(), port=port) as server:
        done = command.run("--resume", folder, "--concurrency", 64)
        assert (done.returncode, done.stderr) == (0, "")
        assert paid.isdisjoint(Stage(server, calm.place).asked())
    keys = [call["key"] for call in calls(folder)]
    assert len(keys) == len(set(keys))
    # A rollout that had failed before the run stopped stays so, and what follows may differ by it.
    ours, theirs = (found(one)["summary.json"] for one in (folder, calm.folder))
    assert ours["seed_policy"] == theirs["seed_policy"]
    assert ours["best_policy"] in ours["versions"][1:]
