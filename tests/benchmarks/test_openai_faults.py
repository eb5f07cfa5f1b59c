"""Faults: drawn by content and attempt, in their shares, never too many in a row."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.openai_faults import FAULTS, Faults


def test_faults_have_their_shares_and_repeat() -> None:
    faults = Faults(seed=3, rate_limit=0.1, hang=0.05, cut=0.05, malformed=0.05, truncated=0.05)
    met = [faults.fault(f"content {n}", 0) for n in range(4000)]
    assert met == [faults.fault(f"content {n}", 0) for n in range(4000)]
    counts = Counter(met)
    assert counts["rate_limit"] / 4000 == pytest.approx(0.1, abs=0.02)
    for name in ("hang", "cut", "malformed", "truncated"):
        assert counts[name] / 4000 == pytest.approx(0.05, abs=0.015)
    assert counts["server_error"] == 0
    assert met != [Faults(seed=4, rate_limit=0.3).fault(f"content {n}", 0) for n in range(4000)]


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("kind", FAULTS)
def test_a_request_is_answered_after_so_many_faults(kind: str, most: int) -> None:
    faults = Faults(**{kind: 1.0}, in_a_row=most, burst=9)  # type: ignore[arg-type]
    met = [faults.fault("any", attempt) for attempt in range(2 * most + 2)]
    assert met == 2 * ([kind] * most + [None])


def test_server_errors_come_in_bursts() -> None:
    faults = Faults(server_error=0.05, burst=2)
    first = [n for n in range(1000) if faults.fault(str(n), 0) == "server_error"]
    assert first
    assert {faults.fault(str(n), 1) for n in first} == {"server_error"}
    assert Counter(Faults(server_error=0.05, burst=1).fault(str(n), 1) for n in first)[None] > 0


def test_shares_beyond_one_are_refused() -> None:
    with pytest.raises(ValueError, match=r"at most 1 together, not 1\.2"):
        Faults(cut=0.6, hang=0.6)
