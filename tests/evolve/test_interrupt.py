"""The first signal asks, the second interrupts, the third ends the process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evolve.interrupt import SIGNALS, Interrupt


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_asks_and_the_second_interrupts(capfd, number):
    before = [signal.getsignal(each) for each in SIGNALS]
    with Interrupt() as interrupt:
        assert not interrupt.asked()
        signal.raise_signal(number)
        assert interrupt.asked()
        assert interrupt.signal == number
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert [signal.getsignal(each) for each in SIGNALS] == [signal.SIG_DFL] * 2
    assert [signal.getsignal(each) for each in SIGNALS] == before
    said = capfd.readouterr().err
    assert said.count("\n") == 2
    assert "Ctrl-C again to stop at once" in said


def test_either_signal_may_be_the_second():
    with Interrupt() as interrupt:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert interrupt.signal == signal.SIGINT


def test_a_third_ends_a_process_that_hangs_and_a_closed_stderr_does_no_harm():
    program = (
        "import os, signal\n"
        "from evolve.interrupt import Interrupt\n"
        "os.close(2)\n"
        "with Interrupt():\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == -signal.SIGINT
