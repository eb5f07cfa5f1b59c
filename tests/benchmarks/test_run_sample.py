"""The watch over a run: memory of every process, every attempt to use the network."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.run_sample import Run, claims_of, observe

GOOD = Run(
    status=0,
    last="done",
    seconds=20.0,
    cpu=35.0,
    others=0.1,
    peaks={1: ("main", 300.0), 2: ("worker", 200.0)},
    largest=300.0,
    watched=frozenset({1, 2, 3}),
    attempts=(),
    isolated=True,
)


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        ("socket.create_connection(('127.0.0.1', 9))", "socket.getaddrinfo"),
        ("socket.socket().connect(('127.0.0.1', 9))", "socket.connect"),
        ("socket.gethostbyname('localhost')", "socket.gethostbyname"),
        (
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
            "socket.sendto",
        ),
    ],
)
def test_an_attempt_to_use_the_network_is_seen_and_refused(
    call: str, seen: str, tmp_path: Path
) -> None:
    run = observe(["-c", f"import socket\n{call}"], tmp_path)
    assert run.status == 1
    assert "the network is off" in run.last
    assert [attempt.split()[2] for attempt in run.attempts] == [seen]
    assert "FAILS" in {claim.verdict for claim in claims_of(run)}


def test_processes_are_watched_and_measured(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time; held = bytearray(150 << 20); "
        "subprocess.run([sys.executable, '-c', '0']); time.sleep(0.3)  # evolve.loop"
    )
    run = observe(["-c", code], tmp_path)
    assert run.status == 0
    assert len(run.watched) == 2
    assert run.attempts == ()
    assert run.largest > 150
    assert 0 < run.cpu < 2 * run.seconds
    if sys.platform == "linux":
        assert max(size for _, size in run.peaks.values()) > 150


def test_a_run_within_its_limits_passes() -> None:
    assert {claim.verdict for claim in claims_of(GOOD)} == {"holds"}


@pytest.mark.parametrize(
    "change",
    [
        {"status": 1},
        {"seconds": 61.0},
        {"largest": 601.0},
        {"peaks": {1: ("worker", 601.0)}},
        {"attempts": ("network 1 socket.connect",)},
        {"watched": frozenset({1})},
    ],
)
def test_each_limit_is_a_claim(change: dict[str, object]) -> None:
    verdicts = [claim.verdict for claim in claims_of(replace(GOOD, **change))]  # type: ignore[arg-type]
    assert verdicts.count("FAILS") == 1


@pytest.mark.parametrize(
    ("others", "verdict"), [(0.1, "FAILS"), (0.4, "unjudged"), (None, "FAILS")]
)
def test_a_late_end_is_excused_by_other_work_alone(others: float | None, verdict: str) -> None:
    late = replace(GOOD, seconds=70.0, others=others)
    assert [c.verdict for c in claims_of(late) if "within" in c.text] == [verdict]
