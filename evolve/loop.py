"""`python -m evolve.loop --budget N`: evolve a memory policy, or resume a run that was stopped."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.arguments import RUN_ARGUMENTS, add_all
from evolve.cli import CommandParser, limit_threads, run_command
from evolve.interrupt import STOPPED, Interrupt, end_quietly
from evolve.terminal import say, warn
from policies.errors import ConfigError, RunFolderError, RunStoppedError, UserError

if TYPE_CHECKING:
    from evolve.config import Options
    from evolve.estimate import Estimate
    from evolve.means import Means
    from evolve.policy_run import Watch

DECLINED = 1  # the user was asked and did not go on


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    given = vars(_parser().parse_args(arguments))
    file = given.pop("config", None)
    if file is not None:
        from evolve.config_file import read_config

        given = {**read_config(file, RUN_ARGUMENTS), **given}
    place = _Place(
        Path(given.pop("runs", "runs")), given.pop("name", None), given.pop("resume", None)
    )
    limit_threads()
    return _run(given, place)


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
        self._found: Path | None = None

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
            return self._there()
        if self._name is not None:
            if self._name in {"", ".", ".."} or Path(self._name).name != self._name:
                raise ConfigError(
                    f"--name must name one folder inside --runs, but is {self._name!r}; leave "
                    "slashes out, and say with --runs where the folder is to be."
                )
            return self._runs / self._name
        stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
        return self._runs / f"{stamp}-{options.strategy}-{os.getpid()}"

    def _there(self) -> Path:
        """The run that is resumed, found once: which one is the latest may change meanwhile."""
        from evolve.results.run_record import find_run

        if self._found is None:
            name = self._resume or ""
            try:
                self._found = find_run(name, self._runs)
            except RunFolderError:
                if not os.path.isdir(name):
                    raise
                self._found = Path(name)  # what is wrong with it is said by what reads it
        return self._found

    def past(self) -> dict[str, Any] | None:
        """Options of the run that is resumed."""
        from evolve.journal import read_header

        if self._resume is None:
            return None
        options: dict[str, Any] = read_header(self._there()).get("options", {})
        return options


def _run(given: dict[str, Any], place: _Place) -> int:
    from evolve.config import merge_options
    from evolve.environment import without_answers
    from evolve.means import make_means

    dry_run, yes = given.pop("dry_run", False), given.pop("yes", False)
    options, means = merge_options(place.past(), given), make_means(given)
    by_evidence = without_answers(options)
    if by_evidence and not place.resumed:
        options = replace(options, policy=given.get("policy", "rag"))
    _tell_import(options.policy)
    estimate = None
    if by_evidence and dry_run:
        say("settings are searched by the evidence: no model is called and nothing is paid")
        return 0
    if dry_run or (options.models.real and not place.resumed):
        from evolve.preview import agreed, preview

        estimate = preview(options, means, resumed=place.resumed)
        if dry_run:
            return 0
        if not (yes or agreed(estimate, options)):
            warn("nothing was called or paid")
            return DECLINED
    with Interrupt(lambda: _last_word(place.chosen)) as interrupt:
        from evolve.display import make_display
        from evolve.policy_run import Watch

        folder = place.folder(options)
        try:
            with make_display() as display:
                watch = Watch(display, interrupt.asked)
                _move(options, means, folder, watch, resume=place.resumed, estimate=estimate)
        except RunStoppedError:
            warn(_last_word(folder))
            return STOPPED + (interrupt.signal or signal.SIGINT)
    return 0


def _move(
    options: Options,
    means: Means,
    folder: Path,
    watch: Watch,
    *,
    resume: bool,
    estimate: Estimate | None,
) -> None:
    """Let the run that the options ask for run to its end."""
    from evolve.environment import without_answers

    if without_answers(options):
        from evolve.locomo.tuned_run import tuned_run

        tuned_run(options, folder, watch, resume=resume)
    elif options.scope == "user":
        from evolve.prepare import prepare
        from evolve.user_run import user_run

        user_run(prepare(options, means), folder, means, watch, resume=resume)
    else:
        from evolve.policy_run import policy_run

        policy_run(options, folder, means, watch, resume=resume, estimate=estimate)


def _tell_import(policy: str) -> None:
    """Print what was found in a prompt or a configuration that stands for a policy."""
    from evolve.inputs import imported_table
    from evolve.tables import print_tables

    found = imported_table(policy)
    if found is not None:
        print_tables([found])
        say()


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
    parser.add_argument(
        "--config", metavar="FILE", help="YAML file of long options; the command line wins"
    )
    add_all(parser, RUN_ARGUMENTS)
    return parser


if __name__ == "__main__":
    status = main()
    end_quietly()
    sys.exit(status)
