"""Ctrl-C and SIGTERM: a stop at the next safe point, or at once; resumed it ends the same."""

from __future__ import annotations

import os
import pty
import signal

import pytest

from evolve.journal import FILE

PATIENCE = 300  # seconds after which a process hangs, however busy the machine
ASKED = (
    "stopping once the rollouts that have begun are in the journal; Ctrl-C again to stop at once"
)
RESUME = "stopped; go on with: python -m evolve.loop --resume runs/run"


class Running:
    """A run of the small environment in the test's folder, stopped in its middle."""

    def __init__(self, command, small, wait_until, same_run):
        self.command, self.small, self.same_run = command, small, same_run
        self.folder = command.place / "runs" / "run"
        self._err = command.place / "stderr"
        self._wait_until = wait_until

    def start(self, jobs, **how):
        arguments = [*self.small.options, "--name", "run", "--jobs", jobs]
        with self._err.open("w") as err:
            self.process = self.command.start(*arguments, **{"stderr": err, **how})

    def until(self, condition):
        self._wait_until(lambda: condition() or self.process.poll() is not None)

    def until_written(self, share):
        """Wait until so much of the journal is written."""
        journal, least = self.folder / FILE, share * self.small.journal.stat().st_size
        self.until(lambda: journal.exists() and journal.stat().st_size >= least)

    @property
    def err(self):
        return self._err.read_text()

    def ended(self):
        """Its status, and what it said on stderr."""
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, self.err

    def resumes(self):
        done = self.command.run("--resume", "runs/run", "--jobs", 1)
        assert (done.returncode, done.stderr) == (0, "")
        self.same_run(self.folder, self.small.folder)


@pytest.fixture
def running(command, small, wait_until, same_run):
    return Running(command, small, wait_until, same_run)


@pytest.mark.parametrize(
    ("number", "jobs", "status"),
    [
        pytest.param(signal.SIGINT, 1, 130, marks=pytest.mark.extra),
        (signal.SIGINT, 2, 130),
        (signal.SIGTERM, 1, 143),
    ],
)
def test_one_signal_stops_at_the_next_safe_point(running, number, jobs, status):
    running.start(jobs)
    running.until_written(0.3)
    os.killpg(running.process.pid, number)  # as a terminal does: to all processes of the run
    assert running.ended() == (status, f"\n{ASKED}\n{RESUME}\n")
    assert (running.folder / FILE).read_bytes().endswith(b"}\n")
    assert not (running.folder / "summary.json").exists()
    running.resumes()


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.extra), 2])
def test_a_second_signal_stops_at_once(running, jobs):
    running.start(jobs)
    running.until_written(0.3)
    os.killpg(running.process.pid, signal.SIGINT)
    running.until(lambda: running.err)
    os.killpg(running.process.pid, signal.SIGINT)
    assert running.ended() == (130, f"\n{ASKED}\n{RESUME}\n")
    running.resumes()


def test_a_signal_right_after_the_start(running):
    running.start(1)
    assert running.process.stdout.readline().startswith("run runs/run: ")
    running.process.send_signal(signal.SIGINT)
    assert running.ended() == (130, f"\n{ASKED}\n{RESUME}\n")
    running.resumes()


class Terminal:
    """A terminal that a command runs in, and what it shows."""

    first = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"

    def __init__(self):
        self.ours, self.theirs = pty.openpty()
        self.shown = ""

    def streams(self):
        return dict.fromkeys(("stdin", "stdout", "stderr"), self.theirs)

    def read_until(self, text):
        """Read until a text is shown; an empty one: until the command ends."""
        while not text or text not in self.shown:
            try:
                read = os.read(self.ours, 65536)
            except OSError:  # the other side is closed
                return
            self.shown += read.decode(errors="replace")


@pytest.fixture
def terminal():
    terminal = Terminal()
    yield terminal
    os.close(terminal.ours)


def test_on_a_terminal_it_shows_a_bar_and_obeys_its_ctrl_c(running, terminal):
    running.command.variables = {"TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    running.start(2, first=terminal.first, **terminal.streams())
    os.close(terminal.theirs)
    terminal.read_until("budget left")
    terminal.read_until("gen-001.")
    os.write(terminal.ours, b"\x03")
    terminal.read_until("")
    assert running.process.wait(PATIENCE) == 130
    assert "time left" in terminal.shown
    assert "best so far" in terminal.shown
    assert ASKED in terminal.shown
    assert RESUME in terminal.shown
    assert "Traceback" not in terminal.shown
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")  # the cursor
    running.resumes()


def test_on_a_terminal_it_ends_with_tables(running, terminal):
    running.command.variables = {"TERM": "xterm", "COLUMNS": "120", "LINES": "30"}
    running.start(1, first=terminal.first, **terminal.streams())
    os.close(terminal.theirs)
    terminal.read_until("")
    assert running.process.wait(PATIENCE) == 0
    assert "Traceback" not in terminal.shown
    end = terminal.shown[terminal.shown.rindex("\x1b[?25h") :]
    for text in ("Candidates (", "Test users", "Spent: ", "test users: ", "summary.json"):
        assert text in end
    running.same_run(running.folder, running.small.folder)


@pytest.mark.extra
def test_a_closed_pipe_ends_a_run_quietly(running):
    ours, theirs = os.pipe()
    running.start(1, stdout=theirs)
    os.close(theirs)
    assert os.read(ours, 14) == b"run runs/run: "
    os.close(ours)
    assert running.ended() == (141, "")
    running.resumes()
