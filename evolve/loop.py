"""`python -m evolve.loop --budget N`: evolve a memory policy, or resume a run that was stopped."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.cli import CommandParser, limit_threads, run_command
from evolve.interrupt import STOPPED, Interrupt, end_quietly
from policies.errors import ConfigError, RunStoppedError, UserError

if TYPE_CHECKING:
    from evolve.config import Options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    given = vars(_parser().parse_args(arguments))
    folder, jobs = given.pop("resume", None), given.pop("jobs")
    runs, name = Path(given.pop("runs")), given.pop("name", None)
    limit_threads()
    return _run(given, _Place(runs, name, folder), jobs)


class _Place:
    """Where the run's folder is, and whether it is resumed.

    Attributes:
        resumed: Whether the run is there already.
        chosen: Its folder, once that is known.
    """

    def __init__(self, runs: Path, name: str | None, resume: str | None) -> None:
        self.resumed = resume is not None
        self.chosen: Path | None = None
        self._runs, self._name, self._resume = runs, name, resume

    def folder(self, options: Options) -> Path:
        """The folder that is resumed, or a new one.

        Raises:
            ConfigError: A name is given to a run that has one, or is not that of one folder.
        """
        self.chosen = self._folder(options)
        return self.chosen

    def _folder(self, options: Options) -> Path:
        if self._resume is not None:
            if self._name is not None:
                raise ConfigError(
                    f"A resumed run keeps its folder {self._resume}, but --name is {self._name}; "
                    "leave one of the two out."
                )
            return Path(self._resume)
        if self._name is not None:
            if self._name in {"", ".", ".."} or Path(self._name).name != self._name:
                raise ConfigError(
                    f"--name must name one folder inside --runs, but is {self._name!r}; leave "
                    "slashes out, and say with --runs where the folder is to be."
                )
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
    with Interrupt(lambda: _last_word(place.chosen)) as interrupt:
        from evolve.config import merge_options
        from evolve.display import make_display
        from evolve.policy_run import Watch, policy_run

        options = merge_options(place.past(), given)
        folder = place.folder(options)
        try:
            with make_display() as display:
                watch = Watch(display, interrupt.asked)
                policy_run(options, folder, jobs, watch, resume=place.resumed)
        except RunStoppedError:
            print(_last_word(folder), file=sys.stderr)
            return STOPPED + (interrupt.signal or signal.SIGINT)
    return 0


def _last_word(folder: Path | None) -> str:
    """What a stopped run says: how to go on."""
    from evolve.journal import read_header

    try:
        if folder is not None:
            read_header(folder)
            resume = f"python -m evolve.loop --resume {shlex.quote(str(folder))}"
            return f"stopped; go on with: {resume}"
    except UserError:
        pass
    return "stopped; nothing was spent yet: begin again with the same command"


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.loop",
        description="Evolve the memory policy of an assistant on simulated users.",
        epilog="Ctrl-C or SIGTERM ends a run once the rollouts that have begun are in its journal, "
        "a second one at once; either way --resume goes on with it, as after a crash.",
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
    status = main()
    end_quietly()
    sys.exit(status)
