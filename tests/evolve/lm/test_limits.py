"""Waiting, trying again, going first, within an allowance."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from evolve.lm import limits as module
from evolve.lm.allowance import Allowance, Caps
from evolve.lm.limits import Limits, PassingError
from policies.errors import (
    BudgetExhaustedError,
    ModelError,
    OutsideFailureError,
    PolicyFailureError,
)


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 0.01)


PATIENCE = 60  # seconds after which threads hang, however busy the machine


class Scripted:
    """Raises or returns what a list says, try by try; the last entry for ever."""

    def __init__(self, *steps: object) -> None:
        self._steps = list(steps)
        self.times: list[float] = []
        self._lock = threading.Lock()

    def __call__(self) -> object:
        with self._lock:
            self.times.append(time.monotonic())
            step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if isinstance(step, Exception):
            raise step
        return step


def limited(after: float | None = None) -> PassingError:
    return PassingError("slow down", limited=True, retry_after=after)


def test_a_failure_that_may_pass_is_tried_again() -> None:
    send, limits = Scripted(PassingError("x"), PassingError("x"), "done"), Limits()
    assert limits.call("m", send) == "done"
    assert (len(send.times), limits.retries) == (3, 2)


def test_tries_are_bounded_and_end_as_a_failure_from_outside() -> None:
    send = Scripted(PassingError("the provider failed"))
    with pytest.raises(OutsideFailureError, match="the provider failed, and tried") as caught:
        Limits(attempts=4).call("m", send)
    assert len(send.times) == 4
    assert type(caught.value) is OutsideFailureError


@pytest.mark.parametrize("error", [PolicyFailureError("long"), ModelError("key"), ValueError()])
def test_other_failures_are_not_tried_again(error: Exception) -> None:
    send = Scripted(error)
    with pytest.raises(type(error)):
        Limits().call("m", send)
    assert len(send.times) == 1


def test_all_wait_as_long_as_the_provider_asks() -> None:
    limits = Limits()
    limits.call("m", Scripted(1))
    send, other = Scripted(limited(0.4), "done"), Scripted("done")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(limits.call, "m", send)
        time.sleep(0.1)
        second = pool.submit(limits.call, "m", other)
        assert (first.result(), second.result()) == ("done", "done")
    assert send.times[1] - send.times[0] >= 0.4
    assert other.times[0] - send.times[0] >= 0.4


def test_being_sent_away_is_bounded_too_but_more_patiently() -> None:
    send = Scripted(limited())
    with pytest.raises(OutsideFailureError):
        Limits(attempts=1).call("m", send)
    assert len(send.times) == module.LIMITED_TRIES


def test_a_provider_that_asks_for_too_long_a_wait_has_failed() -> None:
    send = Scripted(limited(1e9))
    with pytest.raises(OutsideFailureError, match=r"asks to wait 1e\+09 s, which is more than"):
        Limits().call("m", send)
    assert len(send.times) == 1


def test_a_call_is_not_put_off_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITED", 0.35)
    send = Scripted(limited(0.1))
    with pytest.raises(OutsideFailureError, match="in vain"):
        Limits().call("m", send)
    assert len(send.times) == 4


def test_calls_that_fail_together_put_the_others_off_once() -> None:
    limits, at_once = Limits(), threading.Barrier(8)
    limits.call("m", Scripted(1))
    sends = [Scripted(limited(), "done") for _ in range(8)]

    def run(send: Scripted) -> object:
        def together() -> object:
            if not send.times:
                at_once.wait()
            return send()

        return limits.call("m", together)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, sends)) == ["done"] * 8
    assert max(send.times[1] for send in sends) - sends[0].times[0] < 0.5


def test_no_more_calls_are_in_flight_than_allowed() -> None:
    limits, flying, peak = Limits(concurrency=3), [0], [0]
    lock = threading.Lock()

    def send() -> None:
        with lock:
            flying[0] += 1
            peak[0] = max(peak[0], flying[0])
        time.sleep(0.02)
        with lock:
            flying[0] -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: limits.call("m", send), range(24)))
    assert peak[0] == 3


def race(limits: Limits, send: Callable[[], object], count: int = 16) -> list[object]:
    def run(_: int) -> object:
        try:
            return limits.call("m", send)
        except Exception as error:
            return type(error)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_the_first_call_goes_alone() -> None:
    meeting, events, lock = threading.Barrier(15, timeout=PATIENCE), [], threading.Lock()

    def send() -> None:
        with lock:
            events.append("begins")
            alone = len(events) == 1
        if not alone:
            meeting.wait()  # then all go together, or this breaks
        with lock:
            events.append("ends")

    assert race(Limits(), send) == [None] * 16
    assert events[:2] == ["begins", "ends"]


def test_a_wrong_key_costs_one_request_however_many_wait() -> None:
    send = Scripted(ModelError("wrong key"))
    assert race(Limits(), send) == [ModelError] * 16
    assert len(send.times) == 1


@pytest.mark.parametrize("error", [PolicyFailureError("long"), PassingError("x")])
def test_a_first_call_that_fails_otherwise_lets_the_others_go(error: Exception) -> None:
    send = Scripted(error, error, "done")
    assert race(Limits(attempts=2), send, 4).count("done") >= 2


def test_an_address_where_nobody_ever_listened_is_told_soon() -> None:
    send = Scripted(PassingError("nobody", unreachable="mend --api-base"))
    began = time.monotonic()
    assert race(Limits(), send) == [ModelError] * 16
    assert (len(send.times), time.monotonic() - began < 30) == (3, True)


def test_an_address_that_answered_before_is_tried_as_often_as_others() -> None:
    limits, send = Limits(attempts=5), Scripted(PassingError("nobody", unreachable="mend"))
    limits.call("m", Scripted(1))
    with pytest.raises(OutsideFailureError):
        limits.call("m", send)
    assert len(send.times) == 5


def test_every_try_is_a_call() -> None:
    limits = Limits(allowance=Allowance(Caps(calls=3)))
    assert limits.call("m", Scripted(PassingError("x"), "done")) == "done"
    send = Scripted(PassingError("x"))
    with pytest.raises(BudgetExhaustedError, match="a call asked, 0 of 3 left"):
        limits.call("m", send)
    assert (len(send.times), limits.allowance.sent) == (1, 3)


def test_calls_hold_exactly_for_many_threads() -> None:
    limits, send = Limits(allowance=Allowance(Caps(calls=20))), Scripted(limited(), "done")

    def one(_: int) -> bool:
        try:
            return limits.call("m", send) == "done"
        except BudgetExhaustedError:
            return False

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(one, range(64))) == 19
    assert len(send.times) == 20


@pytest.mark.parametrize("failure", [PassingError("x"), limited(60.0)])
def test_nobody_waits_for_a_turn_that_comes_too_late(
    failure: PassingError, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 60.0)
    began = time.monotonic()
    limits, send = Limits(allowance=Allowance(Caps(deadline=began + 20))), Scripted(failure)
    for _ in range(2 if failure.limited else 1):
        with pytest.raises(BudgetExhaustedError, match="no time left"):
            limits.call("m", send)
    assert (len(send.times), time.monotonic() - began < 15) == (1, True)


def test_that_calls_are_tried_again_is_told_but_not_too_often(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    limits = Limits()
    for _ in range(2):
        limits.call("m", Scripted(PassingError("no reply in time"), limited(0.01), "done"))
    assert caplog.messages == ["calls are tried again: no reply in time (retries so far: 1)"]
    monkeypatch.setattr(module, "TOLD_EVERY", 0.0)
    limits.call("m", Scripted(PassingError("nobody", unreachable="mend"), "done"))
    assert caplog.messages[1:] == ["calls are tried again: nobody (retries so far: 5)"]


def test_an_address_that_never_answered_is_told_by_its_error_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(ModelError):
        Limits().call("m", Scripted(PassingError("nobody", unreachable="mend")))
    assert caplog.messages == []
