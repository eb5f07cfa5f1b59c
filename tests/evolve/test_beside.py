"""Calls side by side: in order, none left running, none waiting for ever."""

import threading
from contextlib import closing

import pytest

from evolve.beside import OneByOne, Threads, Together, beside_here, making_calls

PATIENCE = 60  # seconds after which threads hang, however busy the machine


@pytest.fixture(params=["one by one", 1, 4])
def beside(request):
    if request.param == "one by one":
        yield OneByOne()
        return
    with closing(Threads(request.param)) as threads:
        yield threads


def fail():
    raise ArithmeticError("wrong")


class TestContract:
    """What holds of all ways to make calls side by side."""

    def test_every_call_has_its_own_result(self, beside):
        with Together(beside) as together:
            begun = [together.begin(lambda number=number: number**2) for number in range(9)]
            assert [one.result() for one in begun] == [number**2 for number in range(9)]

    def test_an_error_is_raised_with_the_result(self, beside):
        with Together(beside) as together:
            begun = [together.begin(call) for call in (lambda: 1, fail, lambda: 3)]
            assert begun[0].result() == 1
            with pytest.raises(ArithmeticError, match="wrong"):
                begun[1].result()
            assert begun[2].result() == 3

    def test_results_that_nobody_takes_do_no_harm(self, beside):
        with Together(beside) as together:
            together.begin(fail)
            together.begin(lambda: 1)


def test_one_by_one_a_call_is_made_when_its_result_is_wanted():
    made = []
    with Together(OneByOne()) as together:
        first, _ = (together.begin(lambda n=n: made.append(n)) for n in range(2))
        assert made == []
        first.result()
    assert made == [0]


def test_threads_make_calls_at_once():
    meeting = threading.Barrier(3, timeout=PATIENCE)
    with closing(Threads(3)) as threads, Together(threads) as together:
        begun = [together.begin(meeting.wait) for _ in range(3)]
        assert sorted(one.result() for one in begun) == [0, 1, 2]


def test_on_leaving_what_runs_is_waited_for_and_what_waits_is_never_made():
    started, gate, made = threading.Event(), threading.Event(), []

    def hold():
        started.set()
        assert gate.wait(PATIENCE)
        made.append("held")

    def leave(threads):
        with Together(threads) as together:
            together.begin(hold)
            together.begin(lambda: made.append("waiting"))
            started.wait(PATIENCE)
            raise ZeroDivisionError

    with closing(Threads(1)) as threads:
        threading.Timer(0.05, gate.set).start()
        with pytest.raises(ZeroDivisionError):
            leave(threads)
        assert made == ["held"]


def test_whoever_runs_a_task_says_how_its_calls_are_made():
    assert isinstance(beside_here(), OneByOne)
    with closing(Threads(1)) as threads, making_calls(threads):
        assert beside_here() is threads
        elsewhere = []
        other = threading.Thread(target=lambda: elsewhere.append(beside_here()))
        other.start()
        other.join(PATIENCE)
        assert isinstance(elsewhere[0], OneByOne)
    assert isinstance(beside_here(), OneByOne)
