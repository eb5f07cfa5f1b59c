"""The page keeps the log of judgings, which are numbered and never repeated by other sources."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from benchmarks.compare_page import (
    Judging,
    JudgingError,
    curves_csv,
    read_log,
    runs_csv,
    with_judging,
    with_outcome,
    write_page,
)
from benchmarks.compare_worlds import JUDGING_SEEDS, Draws
from benchmarks.report import Claim, Report
from tests.benchmarks.compare_cases import ran

FIRST = Judging(1, "2030-01-31", "abc123", 30)
SECOND = Judging(2, "2030-02-01", "def456", 30)


def test_the_log_survives_on_the_page(tmp_path: Path) -> None:
    page = tmp_path / "comparison.md"
    assert read_log(page) == []
    log = [with_outcome([FIRST], 1, "2 of 30 claims fail")[0], SECOND]
    write_page(page, Report(claims=(Claim("a is above b", False),)), log)
    assert read_log(page) == log
    text = page.read_text()
    assert "- **FAILS**: a is above b" in text
    assert f"| 2 | 2030-02-01 | def456 | {JUDGING_SEEDS[1]} to {JUDGING_SEEDS[1] + 29} |" in text


def test_a_judging_goes_on_with_the_same_sources_alone() -> None:
    assert with_judging([FIRST], FIRST) == [FIRST]
    for other in (Judging(1, "2030-01-31", "fff", 30), Judging(1, "2030-01-31", "abc123", 12)):
        with pytest.raises(JudgingError, match=r"take --judging 2\."):
            with_judging([FIRST], other)


def test_judgings_are_numbered_and_one_that_never_ended_is_abandoned() -> None:
    log = with_judging([FIRST], SECOND)
    assert [one.outcome for one in log] == ["abandoned", "running"]
    done = with_outcome([FIRST], 1, "holds")
    assert with_judging(done, SECOND)[0].outcome == "holds"
    for number in (2, len(JUDGING_SEEDS) + 1):
        with pytest.raises(JudgingError, match="numbered one by one"):
            with_judging([], Judging(number, "2030-01-31", "abc123", 30))


def test_runs_and_curves_are_tables() -> None:
    draws = Draws(5000)
    runs = [
        (draws.spec("a", "joint", 0), ran(0.5)),
        (draws.spec("transfer", "gepa", 1), ran(None)),
    ]
    first, second = csv.DictReader(io.StringIO(runs_csv(runs)))
    assert (first["strategy"], first["seed"], first["best_memory"]) == ("joint", "5000", "0.5")
    assert first["best_unwritten"] == "0.01"
    assert (second["best_memory"], second["seed_memory"]) == ("", "0.2")
    points = list(csv.DictReader(io.StringIO(curves_csv(runs))))
    assert [point["spent"] for point in points] == ["0", "100"] * 2
