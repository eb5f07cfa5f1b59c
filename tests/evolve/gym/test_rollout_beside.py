"""Rollouts whose calls are made side by side are those whose calls are made one by one."""

import itertools
import random
import threading
import time
from contextlib import closing

import pytest

from evolve.beside import OneByOne, Threads
from evolve.gym.bounds import bound_user
from evolve.gym.rollout import World, live
from evolve.lm.base import Completion
from evolve.lm.offline import OfflineLM
from policies.errors import OutsideFailureError, PolicyFailureError
from policies.policy import BUILT_IN, seed_policy

PATIENCE = 60  # seconds


class Unsteady:
    """The offline model at odd speeds; fails where it is told to, and knows what is running.

    Attributes:
        failing: (task, how manieth of its requests by content) to the error that is raised.
        running: Calls in flight.
        peak: Most of them at once.
    """

    name = "offline"

    def __init__(self, failing=lambda request: None):
        self._lm, self._failing = OfflineLM(), failing
        self._lock = threading.Lock()
        self.running = self.peak = 0

    def complete(self, request):
        with self._lock:
            self.running += 1
            self.peak = max(self.peak, self.running)
        try:
            time.sleep(random.random() * 0.004)
            error = self._failing(request)
            if error is not None:
                raise error
            return self._lm.complete(request)
        finally:
            with self._lock:
                self.running -= 1


@pytest.fixture(params=[1, 3, 16])
def threads(request):
    with closing(Threads(request.param)) as threads:
        yield threads


def world(lm, beside, rounds=(1, 2)):
    return World(lm, lm, 1, *rounds, beside)


@pytest.mark.parametrize("architecture", BUILT_IN)
def test_threads_change_nothing(architecture, lived, sample_users, threads):
    lm = Unsteady()
    for user, before in zip(sample_users[:2], lived[architecture], strict=False):
        assert live(seed_policy(architecture), user, world(lm, threads)) == before
    assert lm.running == 0


def test_upper_bounds_are_the_same(sample_users, threads):
    for user in sample_users:
        assert bound_user(user, Unsteady(), 1, threads) == bound_user(user, OfflineLM(), 1)


def test_questions_and_probes_of_a_period_are_in_flight_together(people, scripted):
    (user,) = people(1, periods=2, questions=3)
    meeting = threading.Barrier(6, timeout=PATIENCE)

    def answer(request):
        if request.task in {"answer", "probe"}:
            meeting.wait()
        return {"answer": "1", "probe": "{}", "reply": "Yes.", "user": "Well."}[request.task]

    with closing(Threads(6)) as threads:
        rollout = live(seed_policy("none"), user, world(scripted(answer), threads))
    assert rollout.failure is None
    assert [(a.period, a.question) for a in rollout.answers] == [
        *itertools.product(range(2), range(3))
    ]


def test_memory_is_written_while_the_user_speaks_and_before_the_next_reply(people, scripted):
    (user,) = people(1, periods=2, questions=1)
    meeting = threading.Barrier(2, timeout=PATIENCE)
    policy = seed_policy("awe").derive(settings={"write_every": 2, "local_window": 0})
    over = []

    def answer(request):
        if request.task == "user" or (request.task == "write" and "1.0" in written(request)):
            meeting.wait()
        if request.task == "write":
            time.sleep(0.02)
        over.append(request.task)
        return {"answer": "1", "probe": "{}", "reply": "Yes.", "user": "Well.", "write": "{}"}[
            request.task
        ]

    def written(request):
        # The opening of the second period's only session is dated; its writes are told by that.
        return "1.0" if "2024-01-02" in request.messages[-1].content else ""

    with closing(Threads(2)) as threads:
        rollout = live(policy, user, world(scripted(answer), threads))
    assert rollout.failure is None
    talk = [task for task in over if task in {"reply", "user", "write"}]
    assert talk[:3] == ["reply", "write", "reply"]
    assert sorted(talk[3:5]) == ["user", "write"]
    assert talk[5:] == ["reply", "write"]


def test_questions_are_in_flight_while_the_next_period_is_talked_through(people, scripted):
    (user,) = people(1, periods=2, questions=1)
    meeting = threading.Barrier(3, timeout=PATIENCE)
    asked = itertools.count()

    def answer(request):
        of_first = request.task in {"answer", "probe"} and next(asked) < 2
        if of_first or (request.task == "reply" and "2024-01-02" in request.messages[-1].content):
            meeting.wait()
        return {"answer": "1", "probe": "{}", "reply": "Yes.", "user": "Well."}[request.task]

    with closing(Threads(2)) as threads:
        rollout = live(seed_policy("none"), user, world(scripted(answer), threads, (1, 1)))
    assert rollout.failure is None
    assert [answer.period for answer in rollout.answers] == [0, 1]


ERRORS = {"policy": PolicyFailureError("refused"), "outside": OutsideFailureError("down")}


@pytest.mark.parametrize("kind", sorted(ERRORS))
@pytest.mark.parametrize("tasks", [{"answer"}, {"probe"}, {"write", "user"}, {"user"}, {"reply"}])
def test_of_several_failures_the_first_in_order_counts(sample_users, threads, tasks, kind):
    """A share of the calls fails, each with words of its own: always the same one is recorded."""

    def failing(request):
        if request.task in tasks and request.seed % 7 == 0:
            return type(ERRORS[kind])(f"{request.task} {request.seed}")
        return None

    policy = seed_policy("awe").derive(settings={"write_every": 2, "local_window": 0})
    lm = Unsteady(failing)
    for user in sample_users:
        expected = live(policy, user, world(Unsteady(failing), OneByOne(), (2, 3)))
        assert live(policy, user, world(lm, threads, (2, 3))) == expected
        assert lm.running == 0
        assert expected.failure is not None


def test_a_defect_is_raised_and_leaves_nothing_running(sample_users, threads):
    def broken(request):
        if request.task == "probe":
            raise ZeroDivisionError

    lm = Unsteady(broken)
    with pytest.raises(ZeroDivisionError):
        live(seed_policy("awe"), sample_users[0], world(lm, threads))
    assert lm.running == 0


class Refusing:
    """Names no choice at first."""

    name = "refusing"

    def complete(self, request):
        return Completion("1" if len(request.messages) > 2 else "What?", 1, 1)


def test_upper_bounds_are_asked_once_more_and_a_refusal_is_not_right(people):
    (user,) = people(1, periods=4, questions=2)
    bounds, usage = bound_user(user, Refusing(), 1)
    assert sum(bounds.values()) > 0
    ((_, spent),) = usage
    assert spent.calls % 2 == 0

    class Never(Refusing):
        def complete(self, request):
            raise PolicyFailureError("refused")

    assert set(bound_user(user, Never(), 1)[0].values()) == {0.0}
