"""What all workers do alike, and how a pool of processes ends."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from evolve.lm.models import ModelSpec
from evolve.workers import HereWorkers, ProcessWorkers, WorldSpec

ROOT = Path(__file__).parents[2]
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


@pytest.fixture(params=["here", "two processes"], scope="module")
def workers(request):
    entered = nullcontext(HereWorkers()) if request.param == "here" else ProcessWorkers(2)
    with entered as workers:
        yield workers


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


def test_a_process_that_is_killed_is_told_in_one_sentence(start):
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
