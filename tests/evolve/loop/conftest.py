"""What tests of the whole command share: how it is started, and a run that was never killed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from evolve.gym.sample import make_users
from policies.policy import seed_policy, write_policy

ROOT = Path(__file__).parents[3]
USERS, PERIODS, ENV_SEED, BUDGET = 24, 5, 3, 140
SMALL_BUDGET = 42
SEEDS = (0, 3, 2, 1, 4)  # the first whose run accepts two versions is taken
BECOME = """
import os, sys
os.execv(sys.executable, [sys.executable, "-m", "evolve.loop", *sys.argv[1:]])
"""
PATIENCE = 300  # seconds after which a process hangs, however busy the machine


@dataclass
class Command:
    """Starts ``python -m evolve.loop`` in a folder of its own.

    Attributes:
        place: The folder; its ``home`` is the process's HOME and must stay empty.
        variables: Environment variables besides.
    """

    place: Path
    pycache: Path
    variables: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *arguments: object, first: str = "", **how) -> subprocess.Popen[str]:
        """Start it; ``first`` is what the process does before it becomes the command."""
        (self.place / "home").mkdir(parents=True, exist_ok=True)
        variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        if sys.dont_write_bytecode:
            variables["PYTHONPYCACHEPREFIX"] = str(self.pycache)  # compiling costs seconds
        variables |= {"PYTHONPATH": str(ROOT), "HOME": str(self.place / "home"), **self.variables}
        process = subprocess.Popen(
            [sys.executable, "-c", f"{first}\n{BECOME}", *map(str, arguments)],
            **{
                "cwd": self.place,
                "env": variables,
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                "start_new_session": True,
                **how,
            },
        )
        self.started.append(process)
        return process

    def run(self, *arguments: object, **how) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **how)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def refused(self, *arguments: object, **how) -> str:
        """What a refused command says: one sentence, and nothing else."""
        done = self.run(*arguments, **how)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        return done.stderr

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@dataclass(frozen=True)
class Reference:
    """A run of one process, from its start to its end.

    Attributes:
        folder: Of the run.
        options: Those that began it, files by absolute path.
        out: What it printed.
    """

    folder: Path
    options: tuple[str, ...]
    out: str

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    def events(self) -> list[dict]:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]


@pytest.fixture(scope="session")
def common(tmp_path_factory) -> Path:
    """A folder that all processes of the test session share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture
def command(tmp_path, common) -> Iterator[Command]:
    command = Command(tmp_path, common / "pycache")
    yield command
    command.end()
    assert list((tmp_path / "home").glob("*")) == []


@pytest.fixture(scope="session")
def new_command(common) -> Callable[..., Command]:
    """Makes a command in a folder, with variables of its own."""
    return lambda place, **variables: Command(place, common / "pycache", variables)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def reference(common) -> Reference:
    """A run that accepts two versions or more; made once for all processes of the session."""
    return _shared(common, "reference", _make_reference)


@pytest.fixture(scope="session")
def small(common) -> Reference:
    """As short a run as can be; made once for all processes of the session."""
    return _shared(common, "small", _make_small)


def _shared(common: Path, name: str, make: Callable[[Command], tuple[list[str], str]]) -> Reference:
    place = common / name
    with locked(common / f"{name}.lock"):
        if not place.exists():
            place.mkdir()
            made = make(Command(place, common / "pycache"))
            (place / "made.json").write_text(json.dumps(made))
    if not (place / "made.json").exists():
        pytest.fail(f"{place} could not be made: see the first test that asked for it")
    options, out = json.loads((place / "made.json").read_text())
    return Reference(place / "runs" / "run", tuple(options), out)


def _make_reference(command: Command) -> tuple[list[str], str]:
    place = command.place
    # One memory in view and no window: much is gained by settings, and then by texts.
    weak = {"top_k": 1, "local_window": 0, "write_every": 2}
    write_policy(seed_policy("awe").derive(settings=weak, name="weak"), place / "weak.yaml")
    environment = ["--env", _environment(place, USERS, PERIODS, 8)]
    options = [*environment, "--policy", str(place / "weak.yaml"), "--holdout", "users"]
    for seed in SEEDS:
        shutil.rmtree(place / "runs", ignore_errors=True)
        one = [*options, "--budget", str(BUDGET), "--seed", str(seed)]
        out = _whole(command, one)
        if len(list((place / "runs" / "run" / "policies").glob("*.yaml"))) >= 2:
            return one, out
    pytest.fail(f"none of the seeds {SEEDS} accepts two versions: look for another in this file")


def _make_small(command: Command) -> tuple[list[str], str]:
    options = ["--env", _environment(command.place, 12, 4, 4), "--budget", str(SMALL_BUDGET)]
    return options, _whole(command, options)


def _environment(place: Path, count: int, periods: int, questions: int) -> str:
    users = make_users(ENV_SEED, count, explicitness=1.0)  # what is plain makes gains large
    for user in users:
        user |= {"periods": user["periods"][:periods], "qas": user["qas"][:questions]}
    path = place / "users.json"
    path.write_text(json.dumps(users))
    return str(path)


def _whole(command: Command, options: list[str]) -> str:
    done = command.run(*options, "--name", "run", "--jobs", "1")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture
def same_run():
    """Whether two run folders hold the same, but for the log."""

    def contents(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "run.log"
        }

    def check(folder: Path, other: Path) -> None:
        ours, theirs = contents(folder), contents(other)
        assert list(ours) == list(theirs)
        for name, content in ours.items():
            assert content == theirs[name], name

    return check


@pytest.fixture
def wait_until():
    def wait(condition, seconds=PATIENCE) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "waited too long"
            time.sleep(0.005)

    return wait
