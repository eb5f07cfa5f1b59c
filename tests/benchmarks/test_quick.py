"""Every benchmark at a small size: what must hold there holds, and a false claim fails it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.extra


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def quick(name: str, page: Path, *arguments: str) -> str:
    done = run("-m", f"benchmarks.{name}", "--quick", "--markdown", str(page), *arguments)
    print(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert "FAILS" not in done.stdout
    return page.read_text()


def test_the_offline_model_is_fast(tmp_path: Path) -> None:
    page = quick("offline_speed", tmp_path / "page.md")
    assert "- holds: at least 1000 calls a second, later rollouts" in page
    for role in ("answer", "probe", "reply", "user", "write"):
        assert f"\n| {role} |" in page


def test_a_speed_that_is_not_reached_fails() -> None:
    faster = (
        "from benchmarks import offline_speed as b; b.LEAST = 10**9;"
        " exit(b.main(['--quick', '--users', '1']))"
    )
    done = run("-c", faster)
    assert (done.returncode, done.stderr) == (1, "")
    assert "FAILS at least 1000000000 calls a second" in done.stdout


def test_the_client_of_real_models_is_fast(tmp_path: Path) -> None:
    page = quick("client_speed", tmp_path / "page.md")
    assert "- holds: less than 1000 MB with 64 calls in flight" in page
    assert "- holds: rollouts are those of the offline model itself: 0 failed" in page


def test_the_offline_model_resembles_the_published_table(tmp_path: Path) -> None:
    page = quick("offline_table", tmp_path / "page.md")
    assert "variant a: write_every 2 above 4" in page
    for variant in ("a", "b"):
        assert f"**Comprehension of the sample, variant {variant}: 0." in page


def test_configurations_are_ranked_both_ways(tmp_path: Path) -> None:
    page = quick("off_policy", tmp_path / "page.md")
    assert "- holds: Asking: a policy's own conversations, replayed to it, give its own" in page
    assert "| awe, top_k 50 |" in page


def test_strategies_are_compared(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    few = "--worlds", "a", "--strategies", "joint", "random", "gepa", "self-evolution"  # engines
    page = quick("compare", tmp_path / "page.md", "--cache", cache, *few)
    assert "| joint | 1 |" in page
    assert "- holds: no run spends more than its budget" in page


def test_parts_are_left_out(tmp_path: Path) -> None:
    page = quick("ablation", tmp_path / "page.md", "--cache", str(tmp_path / "cache"))
    assert "| without routing | 1 |" in page


def test_the_sample_run_keeps_its_limits(tmp_path: Path) -> None:
    page = quick("run_sample", tmp_path / "page.md")
    assert "- holds: nothing touches the network: 0 attempts" in page


def test_the_estimate_is_near_what_a_run_spends(tmp_path: Path) -> None:
    page = quick("estimate", tmp_path / "page.md")
    assert "- holds: awi, 80 rollouts: dollars estimated within 30% of what is spent" in page


def test_the_loop_gains_on_the_sample(tmp_path: Path) -> None:
    page = quick("sample_gain", tmp_path / "page.md", "--cache", str(tmp_path / "cache"))
    assert "| joint, draw 1 |" in page
    assert "- holds: no run spends more than its budget" in page


def test_the_loop_runs_on_published_users(tmp_path: Path, shared_data: Path) -> None:
    options = ["--data", str(shared_data), "--cache", str(tmp_path / "cache")]
    page = quick("amemgym_periods", tmp_path / "page.md", *options)
    assert "Power: the split is by time" in page


def test_without_the_data_the_benchmark_says_so_and_passes(tmp_path: Path) -> None:
    page = quick("amemgym_periods", tmp_path / "page.md", "--data", str(tmp_path))
    assert page.startswith("Skipped: the published data is not in")


def test_evidence_is_found_in_published_dialogues(tmp_path: Path, shared_data: Path) -> None:
    page = quick("locomo", tmp_path / "page.md", "--data", str(shared_data))
    assert "\n| bm25 | 0." in page
    assert "- holds: tuned at 2000 tokens finds more evidence than default settings" in page
