"""``python -m evolve.runs``: list, show, compare, roll back, redact and purge runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evolve.cli import CommandParser, limit_threads, run_command
from evolve.terminal import agrees, say, warn
from policies.errors import ConfigError

DECLINED = 1  # the user was asked and did not go on


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    limit_threads()
    command: Callable[[argparse.Namespace], int] = options.command
    return command(options)


def _list(options: argparse.Namespace) -> int:
    from evolve.results.listing import list_runs, listing, to_json
    from evolve.tables import print_tables

    glances = list_runs(options.runs)
    if options.json:
        say(to_json(glances))
    elif not glances:
        say(f"no run in {options.runs}; python -m evolve.loop --budget 300 begins one")
    else:
        print_tables(listing(glances, options.runs))
    return 0


def _show(options: argparse.Namespace) -> int:
    from evolve.results.overview import overview, to_json
    from evolve.results.run_record import find_run, read_run
    from evolve.tables import print_tables

    record = read_run(find_run(options.run, options.runs))
    if options.json:
        say(to_json(record))
    else:
        print_tables(overview(record))
    return 0


def _diff(options: argparse.Namespace) -> int:
    from evolve.agents.own import declare_agent
    from evolve.results.run_diff import difference, find_side, to_json, without_figures
    from evolve.tables import print_tables

    if options.agent is not None:
        declare_agent(options.agent)
    a, b = (find_side(name, options.runs) for name in (options.a, options.b))
    if options.json:
        say(to_json(a, b))
        return 0
    tables, text = difference(a, b)
    print_tables(tables)
    told = [text.removesuffix("\n"), without_figures(a, b)]
    say(("\n" if tables else "") + "\n\n".join(part for part in told if part))
    return 0


def _rollback(options: argparse.Namespace) -> int:
    from evolve.folder import BEST
    from evolve.results.rollback import roll_back
    from evolve.results.run_record import find_run, read_run
    from evolve.results.versions import find_version

    record = read_run(find_run(options.run, options.runs))
    version = find_version(record, options.version)
    roll_back(record, version)
    best, before = record.folder / BEST, record.best
    instead = "again, as the journal says"
    if version.id != before.id:
        instead = f"instead of {before.name} {before.short_id}"
    told = (
        f"{best} is now {version.name} {version.short_id} {instead}; summary.json still tells what "
        "the run found"
    )
    data = {"file": str(best), "policy": version.id, "instead_of": before.id}
    _tell(options, told, data)
    return 0


def _redact(options: argparse.Namespace) -> int:
    from evolve.results.redaction import redact
    from evolve.results.run_record import find_run

    folder = find_run(options.run, options.runs)
    if not _agreed(options, f"what users said goes from {folder} for ever, and it cannot resume"):
        warn("nothing was redacted")
        return DECLINED
    done = redact(folder)
    lines = [
        f"{folder}: {len(done.changed)} files without what users said, {len(done.removed)} removed",
        "policies stay as they are; one of strategy self-evolution may quote its users",
    ]
    if done.unknown:
        lines.append(f"not of the run, and not looked into: {', '.join(done.unknown)}")
    data = {"changed": done.changed, "removed": done.removed, "unknown": done.unknown}
    _tell(options, "\n".join(lines), data)
    return 0


def _purge(options: argparse.Namespace) -> int:
    from evolve.results.purge import Content, purge
    from evolve.results.run_record import find_run

    folder = find_run(options.run, options.runs)
    content = Content.of(folder)
    size = f"{content.files} files, {content.size / 1e6:.1f} MB"
    if not _agreed(options, f"{folder} goes for ever ({size})"):
        warn("nothing was removed")
        return DECLINED
    purge(folder)
    _tell(options, f"{folder} is removed ({size})", {"removed": str(folder)})
    return 0


def _tell(options: argparse.Namespace, told: str, data: Mapping[str, object]) -> None:
    say(json.dumps({"schema": 1, **data}, ensure_ascii=False) if options.json else told)


def _agreed(options: argparse.Namespace, what: str) -> bool:
    """Whether the user wants it, asked on a terminal.

    Raises:
        ConfigError: There is none to ask on.
    """
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError(
            f"What cannot be undone is confirmed first ({what}), but there is no terminal to ask "
            "on; give --yes."
        )
    return agrees(f"{what}; go on?")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.runs",
        description="Look at runs, and keep them in order. RUN is a folder, a name inside --runs, "
        "or latest: the one that changed last.",
        epilog="Every command takes --json; redact and purge ask first, unless --yes is given.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], int], help: str) -> CommandParser:
        one: CommandParser = commands.add_parser(name, help=help, description=help)
        one.set_defaults(command=command)
        one.add_argument(
            "--runs", type=Path, default=Path("runs"), metavar="DIR", help="where runs are (runs)"
        )
        one.add_argument("--json", action="store_true", help="print JSON")
        return one

    add("list", _list, "all runs at a glance")
    show = add("show", _show, "one run: options, versions, candidates, test users")
    diff = add("diff", _diff, "what differs between two runs, versions, policy files or seeds")
    rollback = add("rollback", _rollback, "put an older version of an ended run in force")
    redact = add("redact", _redact, "remove what users said, keep the numbers; cannot be undone")
    purge = add("purge", _purge, "remove a run's folder; cannot be undone")
    for one in (show, rollback, redact, purge):
        one.add_argument("run", metavar="RUN", help="the run")
    for side in ("a", "b"):
        known = "RUN (its best policy), RUN:VERSION, a policy file or a seed policy such as awe"
        diff.add_argument(side, metavar=side.upper(), help=known)
    diff.add_argument(
        "--agent",
        metavar="PACKAGE:CLASS",
        help="the memory system of one's own that a policy file is of; runs name theirs",
    )
    called = "best, seed, its candidate such as gen-001.0, or the first digits of its id"
    rollback.add_argument("version", metavar="VERSION", help=called)
    for one in (redact, purge):
        one.add_argument("--yes", action="store_true", help="do not ask")
    return parser


if __name__ == "__main__":
    sys.exit(main())
