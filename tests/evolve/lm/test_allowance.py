"""What calls may still spend: tokens and dollars in flight, calls, time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evolve.lm.allowance import Allowance, Caps, Cost
from policies.errors import BudgetExhaustedError, ModelError, RunFolderError


@pytest.mark.parametrize(
    ("caps", "reason"),
    [
        (Caps(dollars=1.0), r"at most \$0.6000 asked, \$0.5000 left"),
        (Caps(tokens=1000), "at most 600 tokens asked, 500 left"),
    ],
)
def test_what_is_in_flight_counts_against_the_caps(caps: Caps, reason: str) -> None:
    allowance, spent = Allowance(caps), [Cost(500, 0.5)]
    with allowance.reserve(Cost(400, 0.4), lambda: spent[0]):
        pass
    with (
        pytest.raises(BudgetExhaustedError, match=reason),
        allowance.reserve(Cost(600, 0.6), lambda: spent[0]),
    ):
        pass
    waited = threading.Event()

    def other() -> str:
        with allowance.reserve(Cost(400, 0.4), lambda: spent[0]):
            return "went" if waited.is_set() else "did not wait"

    with ThreadPoolExecutor(1) as pool:
        with allowance.reserve(Cost(400, 0.4), lambda: spent[0]):
            later = pool.submit(other)
            time.sleep(0.1)
            spent[0] = Cost(550, 0.55)
            waited.set()
        assert later.result() == "went"


def test_only_a_cap_in_dollars_needs_a_price() -> None:
    unpriced = Cost(100, None)
    with (
        pytest.raises(ModelError, match="--price"),
        Allowance(Caps(dollars=1.0)).reserve(unpriced, lambda: Cost(0, 0.0)),
    ):
        pass
    for caps in (Caps(), Caps(tokens=100)):
        with Allowance(caps).reserve(unpriced, lambda: Cost(0, None)):
            pass


def test_calls_are_counted_before_they_are_sent_and_across_processes(tmp_path: Path) -> None:
    for _ in range(2):
        allowance = Allowance(Caps(calls=5), tmp_path / "sent")
        for _ in range(2):
            allowance.take_call()
        allowance.close()
        allowance.close()
    allowance = Allowance(Caps(calls=5), tmp_path / "sent")
    allowance.take_call()
    with pytest.raises(BudgetExhaustedError, match="0 of 5 left"):
        allowance.take_call()
    assert (allowance.sent, (tmp_path / "sent").read_bytes()) == (5, b".....")
    allowance.close()
    with pytest.raises(RunFolderError, match="cannot be written"):
        Allowance(Caps(calls=5), tmp_path / "missing" / "sent")


def test_the_deadline() -> None:
    allowance = Allowance(Caps(deadline=time.monotonic() + 60))
    allowance.take_call()
    allowance.check_time(30)
    with pytest.raises(BudgetExhaustedError, match="no time left"):
        allowance.check_time(61)
    allowance.caps = Caps(deadline=time.monotonic())
    with pytest.raises(BudgetExhaustedError, match="no time left"):
        allowance.take_call()
    assert allowance.sent == 1
