"""`python -m evolve.loop --budget N`: evolve a memory policy, or resume a run that was stopped."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from evolve.cli import run_command

if TYPE_CHECKING:
    from evolve.config import Options

INTERRUPTED = 130


class _StopAtSafePoint(Exception):
    """Ctrl-C was pressed once; everything up to here is in the journal."""


class _Stopper:
    """Turns the first Ctrl-C into a stop at the next safe point, the second into one at once."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("stopping at the next safe point; Ctrl-C again to stop at once", file=sys.stderr)

    def check(self) -> None:
        """Stop here if that was asked."""
        if self.asked:
            raise _StopAtSafePoint


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    given = vars(_parser().parse_args(arguments))
    folder, jobs = given.pop("resume", None), given.pop("jobs")
    runs, name = Path(given.pop("runs")), given.pop("name", None)
    return run_command(lambda: _run(given, _Place(runs, name, folder), jobs))


class _Place:
    """Where the run's folder is, and whether it is resumed."""

    def __init__(self, runs: Path, name: str | None, resume: str | None) -> None:
        self.resumed = resume is not None
        self._runs, self._name, self._resume = runs, name, resume

    def folder(self, options: Options) -> Path:
        """The folder that is resumed, or a new one."""
        if self._resume is not None:
            return Path(self._resume)
        if self._name is not None:
            return self._runs / self._name
        stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
        return self._runs / f"{stamp}-{options.strategy}-{os.getpid()}"

    def past(self) -> dict[str, Any] | None:
        """Options of the run that is resumed."""
        from evolve.journal import read_header

        if self._resume is None:
            return None
        options: dict[str, Any] = read_header(Path(self._resume)).get("options", {})
        return options


def _run(given: dict[str, Any], place: _Place, jobs: int) -> int:
    from evolve.config import merge_options
    from evolve.display import make_display
    from evolve.policy_run import policy_run

    options = merge_options(place.past(), given)
    folder = place.folder(options)
    stopper = _Stopper()
    before = signal.signal(signal.SIGINT, stopper)
    try:
        with ExitStack() as stack:
            display = stack.enter_context(make_display())
            stack.enter_context(_logging(folder))
            policy_run(options, folder, jobs, display, stopper.check)
    except (_StopAtSafePoint, KeyboardInterrupt):
        print(f"stopped; go on with: python -m evolve.loop --resume {folder}", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, before)
    return 0


class _logging:
    """Logs of the package go to the run folder's run.log while this is entered."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._handler = logging.FileHandler(folder / "run.log", encoding="utf-8")
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._logger = logging.getLogger("evolve")

    def __enter__(self) -> None:
        self._logger.addHandler(self._handler)
        self._logger.setLevel(logging.DEBUG)

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self._handler)
        self._handler.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evolve.loop",
        description="Evolve the memory policy of an assistant on simulated users.",
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("--budget", type=int, metavar="N", help="rollouts to spend at most, test scoring included")
    add("--env", metavar="FILE", help="environment file (default: the packaged sample)")
    add("--policy", metavar="SEED", help="seed policy: none, native, rag, awe, awi or a file (awe)")
    add("--model", help="the model that plays every role (offline)")
    add("--strategy", metavar="NAME", help="joint or placebo (joint)")
    add("--holdout", metavar="WHAT", help="users, periods or auto (auto)")
    add("--seed", type=int, help="of every random choice (0)")
    add("--first-rounds", type=int, metavar="R", help="rounds of a session, first period (1)")
    add("--later-rounds", type=int, metavar="R", help="rounds of a session, later periods (2)")
    add("--resume", metavar="RUN", help="go on with the run in this folder")
    add("--runs", default="runs", metavar="DIR", help="folder of run folders (runs)")
    add("--name", help="name of the new run's folder (by time and strategy)")
    add("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (all cores)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
