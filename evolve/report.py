"""``python -m evolve.report``: a run as one HTML page that needs no network and no other file."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from evolve.cli import CommandParser, limit_threads, run_command
from evolve.terminal import say
from policies.errors import RunFolderError
from policies.files import write_whole

REPORT = "report.html"
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")  # where neither is set, Linux has a browser of text


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run_command(lambda: _run(_parser().parse_args(argv)))


def _run(options: argparse.Namespace) -> int:
    limit_threads()
    from evolve.results.page import page_of
    from evolve.results.run_record import find_run, read_run

    folder = find_run(options.run, options.runs)
    path = folder / REPORT if options.output is None else options.output
    _check_place(path, folder)
    page = page_of(read_run(folder))
    try:
        write_whole(path, page)
    except OSError as error:
        raise RunFolderError(
            f"A report is written to a file, but {path} cannot be ({error.strerror}); name another "
            "by -o."
        ) from error
    size = len(page.encode())
    told = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
    say(f"{path}: a page of {told}")
    if options.open == "yes" and _has_screen():
        webbrowser.open(path.resolve().as_uri())
    return 0


def _check_place(path: Path, folder: Path) -> None:
    """Check that a page may stand there.

    Raises:
        RunFolderError: It is no page by its name, or would stand among the files of a run.
    """
    from evolve.outside import check_outside

    if path.suffix != ".html":
        raise RunFolderError(
            f"A report is a page whose name ends in .html, but -o is {path}; name such a file."
        )
    check_outside(path, allowed=folder / REPORT)


def _has_screen() -> bool:
    """Whether a browser would open beside the terminal and not in it."""
    if not sys.stdout.isatty():
        return False
    return sys.platform != "linux" or any(os.environ.get(name) for name in _SCREENS)


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.report",
        description="Write a run as one HTML page: what it found, curves, the family of its "
        "policies with what each changed, feedback, a browser of wrong answers, what was spent. "
        "The run may go on; nothing of it is changed.",
    )
    add = parser.add_argument
    add("run", metavar="RUN", help="a run's folder, its name, or latest")
    add("-o", dest="output", type=Path, metavar="FILE", help=f"the page (RUN/{REPORT})")
    add("--runs", type=Path, default=Path("runs"), metavar="DIR", help="where runs are (runs)")
    add(
        "--open",
        choices=("yes", "no"),
        default="yes",
        help="show it in a browser, where there is a screen (yes)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
