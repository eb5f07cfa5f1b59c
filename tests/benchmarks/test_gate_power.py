"""The claims on the gate, on few draws, and that a claim that fails fails the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_all_claims_hold_and_the_tables_are_written(tmp_path: Path) -> None:
    done = run("-m", "benchmarks.gate_power", "--quick", "--markdown", str(tmp_path / "gate.md"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "holds level 0.025: a gain of 0.05" in done.stdout
    assert "FAILS" not in done.stdout
    text = (tmp_path / "gate.md").read_text()
    assert text.count("| --- |") == 5
    assert text.startswith("**Share accepted (users per decision), level 0.025")


def test_a_false_claim_gives_exit_status_1() -> None:
    stricter = "from benchmarks import gate_power as b; b.RUN_LEVEL = 0; exit(b.main(['--quick']))"
    done = run("-c", stricter)
    assert (done.returncode, done.stderr) == (1, "")
    assert "FAILS 8 null candidates" in done.stdout
