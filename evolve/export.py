"""``python -m evolve.export``: an evolved policy as mem0, LangMem, dspy, AMemGym or a chat API."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evolve.cli import CommandParser, run_command
from evolve.terminal import say

if TYPE_CHECKING:
    from evolve.exporting.account import Export
    from evolve.exporting.source import Source

_MODEL = "openai/gpt-4.1-mini"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(lambda: _run(_parser().parse_args(argv)))


def _run(options: argparse.Namespace) -> int:
    from evolve.exporting.account import table
    from evolve.exporting.formats import FORMATS, is_export
    from evolve.exporting.source import find_source
    from evolve.outside import replaces
    from evolve.tables import print_tables

    source = find_source(options.source, options.policy, options.agent)
    export = FORMATS[options.format](source.policy, source.origin)
    place = Path(options.out)
    earlier = partial(is_export, format_name=options.format)
    replaced = replaces(place, earlier, f"an earlier export as {options.format}")
    _write(place, export.text)
    print_tables([table(source.policy, options.format, export.fates)])
    say()
    say("\n".join(_last_words(source, export)))
    say(f"{'replaced' if replaced else 'written'}: {options.out}")
    return 0


def _write(path: Path, text: str) -> None:
    """Write the file.

    Raises:
        ExportError: It cannot be written.
    """
    from policies.errors import ExportError
    from policies.files import write_whole

    try:
        write_whole(path, text)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ExportError(
            f"The export must be written, but {str(path)!r} cannot be ({why}); name another place "
            "by -o."
        ) from error


def _last_words(source: Source, export: Export) -> list[str]:
    """What must be known of the file before it is used."""
    from evolve.exporting.account import beginning
    from policies.policy import seed_policy

    lines = [f"policy: {source.origin.sentence}"]
    if source.rejected is not None:
        lines.append(f"warning: the run did not accept this candidate: {source.rejected}")
    if not source.origin.real:
        against = source.policy.architecture
        same = seed_policy(against).id == source.policy.id
        pair = ["--policy", source.named, *([] if same else ["--against", against])]
        pair += source.scored_by
        lines.append(
            "score it with a real model before you rely on it: "
            f"python -m evolve.eval {shlex.join(pair)} --model {_MODEL}"
        )
    lines += [f"left out of write_prompt: {beginning(one)}" for one in export.left_out]
    return [*lines, *(f"to do: {one}" for one in export.to_do)]


def _parser() -> argparse.ArgumentParser:
    from evolve.exporting.formats import FORMATS

    parser = CommandParser(
        prog="python -m evolve.export",
        description="Write a policy as another memory system takes it. What that system cannot "
        "express is listed on the screen and in the file.",
    )
    add = parser.add_argument
    add("source", metavar="RUN|FILE", help="a run's folder, its name, latest, or a policy file")
    add("--format", required=True, choices=tuple(FORMATS), help="for what it is written")
    add("-o", "--out", required=True, metavar="FILE", help="where it is written")
    add(
        "--policy",
        metavar="VERSION",
        help="best, seed, an id or its first digits, a candidate such as gen-001.0 (best)",
    )
    add(
        "--agent",
        metavar="PACKAGE:CLASS",
        help="the memory system of one's own that a policy file is of; runs name theirs",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
