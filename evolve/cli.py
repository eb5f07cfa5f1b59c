"""What every command does around its work: a mistake is one line, a pipe may close, Ctrl-C ends."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from evolve.interrupt import STOPPED
from policies.errors import UserError

USER_ERROR = 2
CLOSED_PIPE = 128 + 13  # what a shell shows for a process ended by SIGPIPE
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class CommandParser(argparse.ArgumentParser):
    """A parser of arguments that tells a mistake in one line, as everything else does."""

    def error(self, message: str) -> NoReturn:
        """Print the mistake and where to look, and exit with status 2."""
        self.exit(USER_ERROR, f"error: {message}; see {self.prog} --help\n")


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
    try:
        status = main()
        sys.stdout.flush()
    except UserError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return USER_ERROR
    except BrokenPipeError:
        # Python flushes stdout once more as it ends, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except KeyboardInterrupt:
        print("stopped; nothing was kept", file=sys.stderr)
        return STOPPED + signal.SIGINT
    return status
