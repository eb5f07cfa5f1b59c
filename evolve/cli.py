"""What every command does around its work: a mistake is one line, a pipe may close, Ctrl-C ends."""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from evolve.interrupt import STOPPED
from evolve.terminal import in_line, visible, warn
from policies.errors import UserError

USER_ERROR = 2
CLOSED_PIPE = 128 + 13  # what a shell shows for a process ended by SIGPIPE
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class CommandParser(argparse.ArgumentParser):
    """A parser of arguments that tells a mistake in one line, as everything else does."""

    def __init__(self, **how: Any) -> None:
        super().__init__(allow_abbrev=False, **how)

    def error(self, message: str) -> NoReturn:
        """Print the mistake and where to look, and exit with status 2."""
        self.exit(USER_ERROR, f"error: {in_line(message)}; see {self.prog} --help\n")


def limit_threads() -> None:
    """Let numpy use one thread, unless the user said otherwise; before it is imported.

    Its sums would differ with the number of its threads.
    """
    for variable in _THREADS:
        os.environ.setdefault(variable, "1")


def run_command(main: Callable[[], int]) -> int:
    """Run a command and return its exit status.

    Args:
        main: Does the work and returns the status. A ``UserError`` that it raises is printed alone
            on stderr and becomes status 2; when the reader of its output goes away, the command
            ends quietly; Ctrl-C ends it with status 130, and what it did is not kept. Everything
            else passes, as it is a defect.
    """
    _ready_streams()
    try:
        status = main()
        sys.stdout.flush()
    except UserError as error:
        warn(f"error: {' '.join(visible(str(error)).split())}")
        return USER_ERROR
    except BrokenPipeError:
        _close_stdout()
        return CLOSED_PIPE
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _close_stdout()
        warn(
            f"error: What a command prints must be written, but the output is refused "
            f"({error.strerror}); free space there, or print elsewhere."
        )
        return USER_ERROR
    except KeyboardInterrupt:
        warn("stopped; nothing was kept")
        return STOPPED + signal.SIGINT
    return status


def _ready_streams() -> None:
    """Let output never fail for a character that its encoding lacks, nor for want of a stream."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for the whole process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _close_stdout() -> None:
    """Python flushes stdout once more as it ends, which must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
