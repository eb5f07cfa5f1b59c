"""Reports of benchmarks: claims, exit status, Markdown."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest

from benchmarks.report import Claim, Report, above_zero, close
from evolve.stats import Interval
from evolve.tables import Table


@pytest.mark.parametrize(
    ("interval", "strict", "verdict"),
    [
        (Interval(0.1, 0.02, 0.2, 9), True, "holds"),
        (Interval(0.1, -0.02, 0.2, 9), True, "FAILS"),
        (Interval(0.1, -inf, inf, 1), True, "FAILS"),
        (Interval(-0.1, -0.3, 0.1, 9), False, "holds"),
        (Interval(-0.1, -0.3, -0.05, 9), False, "FAILS"),
        (Interval(0.1, -inf, inf, 1), False, "unjudged"),
        (None, True, "FAILS"),
        (None, False, "FAILS"),
    ],
)
def test_a_small_run_refutes_and_a_full_one_must_show(
    interval: Interval | None, strict: bool, verdict: str
) -> None:
    assert above_zero("x", interval, strict).verdict == verdict


def test_a_claim_of_numpy_is_a_claim() -> None:
    assert [Claim("x", np.bool_(value)).verdict for value in (True, False)] == ["holds", "FAILS"]


@pytest.mark.parametrize(("holds", "status"), [(True, 0), (None, 0), (False, 1)])
def test_a_failed_claim_fails_the_command_and_the_page_says_so(
    holds: bool | None, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    table = Table("Things", ("thing", "n"), (("a", "1"),))
    report = Report((table,), (Claim("one is one", holds),), ("A note.",))
    assert close(report, page) == status
    word = report.claims[0].verdict
    assert f"\n{word} one is one\n" in capsys.readouterr().out
    table_text = "**Things**\n\n| thing | n |\n| --- | ---: |\n| a | 1 |\n"
    shown = f"**{word}**" if status else word
    assert page.read_text() == f"{table_text}\nA note.\n\n- {shown}: one is one\n"
