"""Runs of a benchmark: kept results, what is run again, and their summary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import runs
from benchmarks.gains import Series, claims_of, summary_table
from benchmarks.runs import RunResult, RunSpec, known_results, run_all, run_table

SPECS = [RunSpec("sample-a-1000-72", "awe", "joint", seed, 300, "users") for seed in range(3)]
RESULT = RunResult(
    seed_memory=0.2,
    best_memory=0.3,
    gain=0.1,
    low=0.05,
    high=0.15,
    default_memory=None,
    over_default=None,
    accepted=2,
    candidates=20,
    seed_unwritten=0.5,
    best_unwritten=0.4,
    gate_gain=0.08,
    test_gain=0.06,
    shrinkage=0.25,
    seed_tokens=1000.0,
    best_tokens=1100.0,
    spent=290.5,
    seconds=17.0,
)


def test_only_what_is_not_known_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[RunSpec] = []

    def execute(spec: RunSpec, env: Path) -> RunResult:
        ran.append(spec)
        return RESULT

    monkeypatch.setattr(runs, "execute", execute)
    results = known_results(tmp_path)
    results.add(SPECS[1], RESULT)
    run_all(SPECS, lambda _: tmp_path / "env.json", 1, results)
    assert ran == [SPECS[0], SPECS[2]]
    out = capsys.readouterr().out
    assert out.startswith("1 of 3 runs are known already\n1/2 sample-a-1000-72 awe joint seed 0:")
    assert "gain 0.100, 2 of 20 accepted, 17 s" in out


def draws(gains: list[float | None], unwritten: float = 0.4) -> tuple[RunResult, ...]:
    return tuple(replace(RESULT, gain=gain, best_unwritten=unwritten) for gain in gains)


def test_a_series_sums_up_its_draws() -> None:
    series = Series("x", draws([0.1, 0.2, -0.1]), draws([0.0, 0.1, -0.2]))
    assert series.gain is not None
    assert series.gain.mean == pytest.approx(0.2 / 3)
    assert series.over_placebo is not None
    assert [series.over_placebo.mean, series.over_placebo.low] == pytest.approx([0.1, 0.1])
    assert series.unwritten is not None
    assert series.unwritten.mean == pytest.approx(-0.1)
    assert (series.improved, series.below) == (3, 1)
    assert series.shrinkage == pytest.approx(0.25)
    (row,) = summary_table("t", [series]).rows
    assert row[:2] == ("x", "3")
    assert row[3:5] == ("3", "1")


def test_a_series_is_held_against_the_defaults_where_its_runs_were() -> None:
    runs = tuple(
        replace(RESULT, default_memory=0.3 - over, over_default=over) for over in (0.1, 0.05, 0.06)
    )
    series, plain = Series("x", runs), Series("y", (RESULT,) * 3)
    table = summary_table("t", [series, plain])
    assert table.columns[3] == "over default settings"
    assert [row[3] for row in table.rows] == ["+0.070 [+0.004, +0.136]", "-"]
    assert "over default settings" not in summary_table("t", [plain]).columns
    (claim,) = (c for c in claims_of(series, strict=True, sharp=True) if "default" in c.text)
    assert claim.verdict == "holds"
    worse = Series("x", tuple(replace(run, over_default=-0.05) for run in runs))
    (claim,) = (c for c in claims_of(worse, strict=True, sharp=True) if "default" in c.text)
    assert claim.verdict == "FAILS"
    for other, sharp in ((plain, True), (series, False)):
        assert not [c for c in claims_of(other, strict=True, sharp=sharp) if "default" in c.text]


def test_an_undefined_gain_makes_the_mean_undefined_and_the_claim_fail() -> None:
    series = Series("x", draws([0.1, None, 0.1]))
    assert series.gain is None
    assert [c.verdict for c in claims_of(series, strict=True, sharp=False)] == ["FAILS", "holds"]


def test_means_suffice_where_claims_are_not_sharp() -> None:
    series = Series("x", draws([0.3, 0.2, -0.1]), draws([0.3, -0.1, 0.0]))
    assert [c.verdict for c in claims_of(series, strict=True, sharp=True)] == [
        "FAILS",
        "FAILS",
        "holds",
    ]
    assert {c.verdict for c in claims_of(series, strict=True, sharp=False)} == {"holds"}
    worse = Series("x", draws([0.1, 0.1], unwritten=0.6), draws([0.2, 0.2]))
    assert [c.verdict for c in claims_of(worse, strict=True, sharp=False)] == [
        "holds",
        "FAILS",
        "FAILS",
    ]


def test_a_run_is_a_row() -> None:
    undefined = replace(RESULT, gain=None, low=None, high=None, best_unwritten=None)
    first, second = run_table("t", {"a": RESULT, "b": undefined}).rows
    assert first[3] == "+0.100 [0.050, 0.150]"
    assert second[3] == "undefined"
    assert second[7] == "-"


def test_a_seed_that_stays_gains_nothing_and_has_no_interval() -> None:
    stays = replace(RESULT, gain=0.0, low=None, high=None)
    held = replace(stays, default_memory=0.28, over_default=-0.08)
    table = run_table("t", {"a": stays, "b": held})
    assert [row[3] for row in table.rows] == ["+0.000 (seed stays)"] * 2
    assert table.columns[4:6] == ("seed at default settings", "best over that")
    assert [row[4:6] for row in table.rows] == [("-", "-"), ("0.280", "-0.080")]
