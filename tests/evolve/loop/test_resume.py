"""A run that is killed anywhere, and resumed, ends as one that was not."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from collections import Counter
from fractions import Fraction
from pathlib import Path
from subprocess import TimeoutExpired

import pytest

from evolve.journal import FILE


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def tear(path: Path, draw: random.Random) -> None:
    """Cut the last line somewhere in its middle, as a crash of the machine may."""
    content = path.read_bytes()
    start = content[:-1].rfind(b"\n") + 1
    if 0 < start < len(content) - 1:
        os.truncate(path, draw.randrange(start + 1, len(content)))


def moments(whole: int, kills: int, draw: random.Random) -> list[int]:
    """Sizes of the journal at which a run is killed: its start, near its end, and between them."""
    part = whole // kills
    between = [draw.randrange(n * part, (n + 1) * part) for n in range(1, kills - 1)]
    return [0, *between, draw.randrange(whole - part // 4, whole)]


@pytest.mark.parametrize(  # seed, kills, jobs
    "scenario", [pytest.param((0, 9, 1), marks=pytest.mark.extra), (1, 8, 1), (2, 3, 2)]
)
def test_killed_and_resumed_it_ends_with_the_same_bytes(
    command, reference, same_run, wait_until, scenario
):
    number, kills, jobs = scenario
    draw = random.Random(number)
    folder = command.place / "runs" / "run"
    journal = folder / FILE
    begin = [*reference.options, "--name", "run", "--jobs", jobs]
    arguments, killed = begin, 0
    for at in moments(size(reference.journal), kills, draw):
        process = command.start(*arguments)
        wait_until(lambda at=at, process=process: size(journal) >= at or process.poll() is not None)
        try:
            process.wait(draw.uniform(0, 0.2))
        except TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL) if draw.random() < 0.3 else process.kill()
        process.wait()
        killed += process.returncode == -signal.SIGKILL
        if journal.exists() and draw.random() < 0.5:
            tear(journal, draw)
        begun = journal.exists() and b"\n" in journal.read_bytes()
        arguments = ["--resume", folder, "--jobs", jobs] if begun else begin
    assert killed >= kills - 1  # the last one may come too late
    ended = command.run(*arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-2] == reference.out.splitlines()[-2]
    same_run(folder, reference.folder)


def test_nothing_happens_twice_and_the_budget_holds(reference):
    events = reference.events()
    counts = Counter((event["kind"], event["key"]) for event in events)
    assert {kind for kind, _ in counts} == {
        "run", "introduction", "reserve", "rollout", "replay", "proposal", "verdict", "bounds"
    }  # fmt: skip
    assert {key for key, count in counts.items() if count > 1} == set()
    reserved = [event["data"] for event in events if event["kind"] == "reserve"]
    summary = json.loads((reference.folder / "summary.json").read_text())
    spent = sum(Fraction(one["cost"]) for one in reserved)
    assert float(spent) == summary["spent"]
    assert spent <= summary["budget"]
    names = [name for one in reserved for name in one["jobs"]]
    paid = {"rollout", "replay"}
    assert names == [event["key"] for event in events if event["kind"] in paid]
    assert len(summary["versions"]) >= 3


def test_what_is_swept_is_what_a_kill_left(command, reference, same_run):
    folder = command.place / "run"
    shutil.copytree(reference.folder, folder)
    for half in (".best.yaml.1.tmp", "policies/.gen-001.yaml.1.tmp"):
        (folder / half).write_text("half")
    (folder / "summary.json").unlink()
    (folder / "best.yaml").write_text("half")
    assert command.run("--resume", folder).returncode == 0
    same_run(folder, reference.folder)


@pytest.mark.extra
def test_three_processes_and_another_name_change_nothing_else(command, reference):
    assert command.run(*reference.options, "--name", "other", "--jobs", 3).returncode == 0
    other = command.place / "runs" / "other"
    files = [path for path in sorted(reference.folder.rglob("*")) if path.is_file()]
    for path in files:
        if path.name != "run.log":
            same = other / path.relative_to(reference.folder)
            lines = same.read_text().replace("run: other,", "run: run,").splitlines()
            # The journal's header has the name too, and a checksum over it.
            first = path.name == FILE
            assert path.read_text().splitlines()[first:] == lines[first:]
    assert len([path for path in other.rglob("*") if path.is_file()]) == len(files)
