"""What all workers do alike, and how a pool of processes ends."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

import evolve.workers
from evolve.beside import Together, beside_here
from evolve.clusters import ClusterWorkers
from evolve.gym.rollout import Span
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.lm.base import Completion
from evolve.lm.models import ModelSpec
from evolve.workers import (
    BoundTask,
    HereWorkers,
    LiveTask,
    ProcessWorkers,
    ThreadWorkers,
    WorldSpec,
)
from policies.errors import OutsideFailureError, TooManyFailuresError
from policies.policy import seed_policy
from tests.evolve.pool_cluster import PoolCluster

ROOT = Path(__file__).parents[2]
OFFLINE = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 1, 1, 2)
PATIENCE = 300  # seconds after which a process hangs, however busy the machine


@dataclass(frozen=True)
class Square:
    number: int
    seconds: float = 0.0

    def __call__(self):
        time.sleep(self.seconds)
        if self.number < 0:
            raise ArithmeticError(f"{self.number} is negative")
        return self.number**2


@dataclass(frozen=True)
class Held:
    """Ends once a file is there; the first one at once."""

    number: int
    gate: Path

    def __call__(self):
        while self.number and not self.gate.exists():
            time.sleep(0.01)
        return self.number


class Feed:
    """Held tasks, counted as they are taken, until it is closed."""

    def __init__(self, count, gate):
        self.taken = 0
        self.open = True
        self._tasks = [Held(number, gate) for number in range(count)]

    def __iter__(self):
        for task in self._tasks:
            if not self.open:
                return
            self.taken += 1
            yield task


# Other processes find by name what __main__ defines, but not what a test module does.
for defined in (Square, Held):
    defined.__module__ = "__main__"
    setattr(sys.modules["__main__"], defined.__name__, defined)


@contextmanager
def pool_cluster():
    with closing(PoolCluster()) as cluster, ClusterWorkers(cluster) as workers:
        yield workers


WORKERS = {
    "a cluster": pool_cluster,
    "here": lambda: nullcontext(HereWorkers()),
    "two threads": lambda: ThreadWorkers(2),
    "two processes": lambda: ProcessWorkers(2),
}


@pytest.fixture(params=sorted(WORKERS), scope="module")
def workers(request):
    with WORKERS[request.param]() as workers:
        yield workers


@pytest.fixture(scope="module")
def sample():
    return users_of(make_users(3, 3), "test")


class TestContract:
    """What a run may expect of any workers."""

    def test_results_in_order_whatever_takes_longer(self, workers):
        tasks = [Square(number, 0.02 * (number % 3 == 0)) for number in range(8)]
        assert list(workers.run(tasks)) == [number**2 for number in range(8)]

    def test_one_run_after_the_other(self, workers):
        assert [list(workers.run([Square(n)])) for n in range(3)] == [[0], [1], [4]]

    def test_nothing_to_do(self, workers):
        assert list(workers.run([])) == []

    def test_tasks_are_taken_as_there_is_room(self, workers, tmp_path):
        feed = Feed(20, tmp_path / "gate")
        results = workers.run(feed)
        assert next(results) == 0
        assert 1 <= feed.taken <= 6
        (tmp_path / "gate").touch()
        assert list(results) == list(range(1, 20))
        assert feed.taken == 20

    def test_what_was_started_is_yielded_when_tasks_end_early(self, workers, tmp_path):
        feed = Feed(20, tmp_path / "gate")
        results = workers.run(feed)
        assert next(results) == 0
        feed.open = False
        (tmp_path / "gate").touch()
        assert list(results) == list(range(1, feed.taken))
        assert feed.taken <= 6

    def test_an_error_ends_the_run_but_not_the_workers(self, workers):
        with pytest.raises(ArithmeticError, match="-1 is negative"):
            list(workers.run([Square(3), Square(-1), Square(4)]))
        assert list(workers.run([Square(5)])) == [25]


class TestThreads:
    """What is so of threads alone."""

    def test_tasks_and_their_calls_run_at_once(self):
        meeting = threading.Barrier(4, timeout=PATIENCE)

        def task():
            with Together(beside_here()) as together:
                calling = together.begin(meeting.wait)
                meeting.wait()
                return calling.result() < 4

        with ThreadWorkers(2) as workers:
            assert list(workers.run([task, task])) == [True, True]

    @pytest.mark.parametrize("how", ["error", "left", "closed"])
    def test_when_a_run_ends_early_its_tasks_end_at_their_next_call(self, how):
        """Not one is still running when the next thing happens."""
        started, running = threading.Barrier(2, timeout=PATIENCE), []

        def endless():
            running.append(1)
            started.wait()
            try:
                while True:
                    with Together(beside_here()) as together:
                        together.begin(lambda: time.sleep(0.001)).result()
            finally:
                running.pop()

        def first():
            started.wait()
            if how == "error":
                raise ArithmeticError
            return 1

        with ThreadWorkers(2) as workers:
            results = workers.run([first, endless, *[lambda: 1] * 9])
            if how == "error":
                with pytest.raises(ArithmeticError):
                    next(results)
            else:
                assert next(results) == 1
                assert running == [1]
            if how == "closed":
                results.close()
            if how == "left":
                assert list(workers.run([lambda: 5])) == [5]
            assert running == []

    def test_rollouts_and_bounds_are_the_same_with_any_number_of_threads(self, sample):
        policies = [seed_policy(architecture) for architecture in ("awe", "native")]
        tasks = [LiveTask(OFFLINE, p, user, Span(4)) for p in policies for user in sample]
        tasks += [BoundTask(OFFLINE, user) for user in sample]
        expected = list(HereWorkers().run(tasks))
        for count in (1, 2, 7):
            with ThreadWorkers(count) as workers:
                assert list(workers.run(tasks)) == expected


class Failing:
    """Asked in one role it fails so many times, then not; otherwise it says little."""

    name = "failing"

    def __init__(self, task, times):
        self._task, self.times = task, times

    def complete(self, request):
        if request.task == self._task and self.times:
            self.times -= 1
            raise OutsideFailureError(f"down, {self.times} to come")
        said = {"answer": "1", "bound": "1", "probe": "{}"}.get(request.task, "Yes.")
        return Completion(said, 1, 1)


class TestOnceMore:
    """What fails for outside reasons is tried once more, and no more."""

    @pytest.fixture
    def failing(self, monkeypatch):
        def make(task, times):
            lm = Failing(task, times)
            monkeypatch.setattr(evolve.workers, "make_lm", lambda spec: lm)
            return lm

        return make

    def test_a_rollout_is_lived_again_and_counted_once(self, failing, people):
        (user,) = people(1)
        task = LiveTask(OFFLINE, seed_policy("none"), user, Span())
        failing("reply", 0)
        expected = task()
        failing("reply", 1)
        assert task() == expected
        lm = failing("reply", 9)
        assert task().failure == "down, 7 to come"
        assert lm.times == 7

    def test_upper_bounds_too_and_then_they_end_the_run(self, failing, people):
        (user,) = people(1)
        failing("bound", 0)
        expected = BoundTask(OFFLINE, user)()
        failing("bound", 1)
        assert BoundTask(OFFLINE, user)() == expected
        failing("bound", 9)
        with pytest.raises(TooManyFailuresError, match=r"u000 failed twice \(down, 7 to come\)"):
            BoundTask(OFFLINE, user)()


def test_a_world_is_built_where_it_is_needed():
    world = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 7, 1, 2).build()
    assert (world.seed, world.rounds(0), world.rounds(1)) == (7, 1, 2)


def test_a_pool_that_had_nothing_to_do_never_starts():
    program = (
        "import sys\n"
        "from evolve.workers import ProcessWorkers\n"
        "with ProcessWorkers(2) as workers:\n"
        "    print(list(workers.run([])), 'joblib' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[] False\n", "")


PROGRAM = """
import os, signal, sys, time
from evolve.workers import ProcessWorkers

class Task:
    def __call__(self):
        time.sleep(float(sys.argv[2]))
        return os.getpid()

def main():
    if __name__ != "__main__":
        return
    with ProcessWorkers(2) as workers:
        seen = set()
        for result in workers.run(Task() for _ in range(int(sys.argv[1]))):
            if result not in seen:
                seen.add(result)
                print(result, flush=True)
            {body}
    print("done", flush=True)

main()
"""


@pytest.fixture
def start(tmp_path):
    """Starts a program that prints the ids of its processes, in a session of its own."""
    started = []

    def begin(body, count, seconds):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(PROGRAM).replace("{body}", body))
        process = subprocess.Popen(
            [sys.executable, "-W", "always", path, str(count), str(seconds)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=PATIENCE):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.02)


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@linux
def test_processes_of_a_killed_parent_end_by_themselves(start):
    parent = start("pass", 1000, 0.05)
    pids = [int(parent.stdout.readline()) for _ in range(2)]
    parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(alive(pid) for pid in pids))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_processes_leave_signals_to_their_parent(start, number):
    ignore = f"signal.signal({number.value}, signal.SIG_IGN)"
    parent = start(ignore, 12, 0.05)
    for _ in range(2):
        parent.stdout.readline()
    os.killpg(parent.pid, number)
    out, err = parent.communicate(timeout=PATIENCE)
    assert (out, err, parent.returncode) == ("done\n", "", 0)


def test_what_is_lost_with_a_process_is_run_again(start):
    kill = "seen == {result} and os.kill(result, signal.SIGKILL)"
    parent = start(f"{kill}\n            sys.argv.append(result)", 30, 0.05)
    out, err = parent.communicate(timeout=PATIENCE)
    assert (out.splitlines()[-1], err, parent.returncode) == ("done", "", 0)
    assert len(out.splitlines()) >= 4  # two more processes in the second pool


def test_a_process_that_is_killed_again_and_again_is_told_in_one_sentence(start):
    parent = start("os.kill(result, signal.SIGKILL)", 1000, 0.05)
    out, err = parent.communicate(timeout=PATIENCE)
    assert "done" not in out
    assert err.splitlines()[-1].startswith("policies.errors.LostProcessError: A run's processes")
    assert "Warning" not in err


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "ZeroDivisionError"])
def test_an_error_in_between_ends_the_pool_at_once_and_quietly(start, error):
    parent = start(f"raise {error}", 40, 0.05)
    out, err = parent.communicate(timeout=PATIENCE)
    assert "done" not in out
    assert err.splitlines()[-1] == error
    assert "Warning" not in err
    assert err.count("Traceback") == 1


def test_there_are_no_more_threads_than_tasks():
    before, seen = threading.active_count(), []
    with ThreadWorkers(5000) as workers:
        list(workers.run(iter([lambda: seen.append(threading.active_count())] * 4)))
    assert max(seen) - before < 12
