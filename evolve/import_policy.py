"""``python -m evolve.import_policy``: a prompt, a mem0 or an AMemGym configuration as a policy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evolve.cli import CommandParser, run_command
from evolve.terminal import agrees, say, warn

DECLINED = 1  # the user was asked and did not agree


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(lambda: _run(_parser().parse_args(argv)))


def _run(options: argparse.Namespace) -> int:
    from evolve.importing.imported import is_import
    from evolve.importing.source import import_source
    from evolve.outside import replaces
    from evolve.tables import print_tables
    from policies.policy import write_policy

    replaced = replaces(Path(options.out), is_import, "a policy that was imported before")
    imported = import_source(Path(options.source))
    print_tables([imported.table])
    if not (options.yes or _agreed(options.out, "replace" if replaced else "write")):
        warn("nothing was written")
        return DECLINED
    write_policy(imported.policy, options.out)
    say(f"\n{'replaced' if replaced else 'written'}: {options.out}, policy {imported.policy.id}")
    return 0


def _agreed(out: str, deed: str) -> bool:
    """Whether what was found is confirmed.

    Raises:
        ImportSourceError: There is nobody to ask.
    """
    from policies.errors import ImportSourceError

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ImportSourceError(
            "What was found is to be confirmed, but nobody can be asked here; read it, and give "
            "--yes."
        )
    return agrees(f"\nis that right? {deed} {out}?")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.import_policy",
        description="Make a policy of what you have: a prompt in a text file, a configuration of "
        "mem0, or an agent configuration of AMemGym. What was found in it is shown and confirmed.",
        epilog="Exit status 1 where it is not confirmed.",
    )
    add = parser.add_argument
    add("source", metavar="FILE", help="a prompt (.txt, .md) or a configuration (.json, .yaml)")
    add("-o", "--out", required=True, metavar="POLICY", help="policy file that is written")
    add("--yes", action="store_true", help="write it without asking")
    return parser


if __name__ == "__main__":
    sys.exit(main())
