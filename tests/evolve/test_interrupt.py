"""The first signal asks, the second ends the process at once, the third without a word."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evolve.interrupt import SIGNALS, Interrupt

ASKED = (
    "\nstopping once the rollouts that have begun are in the journal; "
    "Ctrl-C again to stop at once\n"
)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_asks(capfd, number):
    before = [signal.getsignal(each) for each in SIGNALS]
    with Interrupt(str) as interrupt:
        assert not interrupt.asked()
        signal.raise_signal(number)
        assert interrupt.asked()
        assert interrupt.signal == number
    assert [signal.getsignal(each) for each in SIGNALS] == before
    assert capfd.readouterr() == ("", ASKED)


def test_what_is_waited_for_can_be_said(capfd):
    with Interrupt(str, "the kettle boils"):
        signal.raise_signal(signal.SIGINT)
    assert "\nstopping once the kettle boils; Ctrl-C again" in capfd.readouterr().err


def ran(program):
    """A process that handles both signals and runs a program."""
    start = "import os, signal, time\nfrom evolve.interrupt import Interrupt\n"
    return subprocess.run(
        [sys.executable, "-c", start + program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("first", "second"), [SIGNALS, SIGNALS[::-1], SIGNALS[:1] * 2])
def test_the_second_ends_it_wherever_it_is(first, second):
    done = ran(
        "class Ends:\n"
        f"    def __del__(self): signal.raise_signal({second.value}); print('went on')\n"
        "with Interrupt(lambda: 'the last word'):\n"
        f"    signal.raise_signal({first.value})\n"
        "    ends = Ends()\n"
        "    del ends\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        128 + second,
        "",
        f"{ASKED}the last word\n",
    )


def test_a_third_ends_one_whose_last_word_hangs_and_a_closed_stderr_does_no_harm():
    done = ran(
        "os.close(2)\n"
        "with Interrupt(lambda: signal.raise_signal(signal.SIGINT)):\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
    )
    assert done.returncode == -signal.SIGINT
