"""The command: only what is needed is run, judgings are guarded, and files are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import compare, compare_pool
from benchmarks.compare_page import read_log
from benchmarks.compare_run import Ran
from benchmarks.compare_worlds import JUDGING_SEEDS, CompareSpec
from tests.benchmarks.compare_cases import ran

SCORES = {"joint": 0.5, "sequential": 0.5}
Run = Callable[..., int]


@pytest.fixture
def ran_specs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[CompareSpec]:
    """What was run, by a stand-in that knows each strategy's score but for some noise."""
    specs: list[CompareSpec] = []

    def execute(spec: CompareSpec, data: Path | None) -> Ran:
        specs.append(spec)
        return ran(SCORES.get(spec.strategy, 0.2) + 0.01 * (spec.seed % 3))

    monkeypatch.setattr(compare, "execute", execute)
    monkeypatch.setattr(compare_pool, "sources", lambda: "0123abcd")
    monkeypatch.setattr(compare, "STRATEGIES", dict.fromkeys(compare.ORDER))
    monkeypatch.setenv("MNEMOTUNE_DATA", str(tmp_path / "none"))
    return specs


@pytest.fixture
def run(ran_specs: list[CompareSpec], tmp_path: Path) -> Run:
    fixed = ["--jobs", "1", "--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]
    return lambda *arguments: compare.main([*arguments, *fixed])


def test_a_comparison_that_is_clear_ends_and_a_second_time_nothing_is_run(
    run: Run, ran_specs: list[CompareSpec], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ("--draws", "9", "--worlds", "a", "--strategies", "joint", "sequential", "placebo")
    assert run(*small) == 0
    counts = {
        name: sum(spec.strategy == name for spec in ran_specs)
        for name in ("joint", "sequential", "placebo")
    }
    assert counts == {"joint": 9, "sequential": 9, "placebo": 3}
    assert "min left" in capsys.readouterr().out
    first = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert first.keys() == {
        *("comparison.md", "comparison-runs.csv", "comparison-curves.csv"),
        *("comparison-a.svg", "comparison-a-tokens.svg"),
    }
    ran_specs.clear()
    assert run(*small) == 0
    assert ran_specs == []
    assert first == {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}


def test_a_judging_is_logged_before_and_after_it_and_has_draws_of_its_own(
    run: Run, ran_specs: list[CompareSpec], tmp_path: Path
) -> None:
    assert run("--draws", "6", "--worlds", "a", "b", "--judging", "1") == 0
    (entry,) = read_log(tmp_path / "out" / "comparison.md")
    assert (entry.number, entry.draws, entry.outcome) == (1, 6, "holds")
    assert {spec.seed for spec in ran_specs} == {JUDGING_SEEDS[0] + draw for draw in range(6)}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--judging", "2"],
        ["--judging", "1", "--draws", "5"],
        ["--judging", "1", "--budget", "100"],
        ["--judging", "1", "--worlds", "a"],
        ["--judging", "1", "--quick"],
        ["--judging", "1", "--strategies", "joint"],
    ],
)
def test_what_is_no_judging_is_refused(
    run: Run, ran_specs: list[CompareSpec], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(*arguments)
    assert stopped.value.code == 2
    assert ran_specs == []


def test_strategies_that_the_registry_does_not_have_are_left_out_of_trials_alone(
    run: Run,
    ran_specs: list[CompareSpec],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = dict.fromkeys(name for name in compare.ORDER if name != "gepa")
    monkeypatch.setattr(compare, "STRATEGIES", there)
    assert run("--draws", "1", "--worlds", "a") == 0
    assert {spec.strategy for spec in ran_specs} == there.keys()
    assert "Left out, as the registry does not have them: gepa." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run("--judging", "1")


def test_sources_that_change_meanwhile_stop_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = iter(["one", "one", "two"])
    monkeypatch.setattr(compare_pool, "sources", lambda: next(digests))
    with pytest.raises(SystemExit, match="sources changed"):
        run("--draws", "2", "--worlds", "a")


def test_the_digest_covers_what_a_run_depends_on() -> None:
    assert len(compare_pool.sources()) == 16
