"""A model makes an environment: ``python -m evolve.gym.generate --domain WHAT --model MODEL``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from evolve.arguments import MODEL_ARGUMENTS, add_all
from evolve.cli import CommandParser, limit_threads, run_command
from evolve.interrupt import STOPPED, Interrupt, end_quietly
from evolve.terminal import say, warn
from policies.errors import ConfigError, GenerationError, RunStoppedError

if TYPE_CHECKING:
    from evolve.gym.generating.brief import Brief
    from evolve.gym.generating.making import Made
    from evolve.lm.models import ModelSpec
    from evolve.means import Means
    from evolve.money import Paid
    from evolve.roles import Models

INCOMPLETE = 1  # a user is missing, or the cost was not agreed to
_AGAIN = "stopped; what is made and paid is kept: go on with the same command"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; status 1 where a user is missing."""
    return run_command(lambda: _run(_parser().parse_args(argv)))


def _run(options: argparse.Namespace) -> int:
    limit_threads()
    from evolve.connecting import make_cast
    from evolve.gym.generating.brief import MOST_USERS, Brief
    from evolve.gym.generating.parts import check_same, parts_of
    from evolve.means import make_means
    from evolve.ranges import check_range
    from evolve.roles import OFFLINE, make_models

    given = vars(options)
    if options.model == OFFLINE:
        raise ConfigError(
            "An environment is written by a language model, but --model is offline, a stand-in "
            "that can write nothing of its own; name one such as openai/gpt-4.1-mini, or take "
            "ready-made users from python -m evolve.gym.sample."
        )
    brief = Brief(
        options.domain, options.language, options.seed, options.periods, options.questions
    )
    check_range("users", options.users, 1, MOST_USERS)
    models, means = make_models(given), make_means(given)
    _check_out(options.out)
    spec = make_cast(models, means.timeout).model
    check_same(parts_of(options.out), brief, spec.name)
    if not _affordable(options, brief, spec):
        warn("nothing was called or paid")
        return INCOMPLETE
    if options.dry_run:
        return 0
    with Interrupt(lambda: _AGAIN, "the calls that have begun are answered") as interrupt:
        try:
            made, paid = _make(options, brief, (models, means, spec), interrupt)
        except RunStoppedError:
            warn(_AGAIN)
            return STOPPED + (interrupt.signal or signal.SIGINT)
    _report(made, options.out, paid)
    return INCOMPLETE if made.failed else 0


def _check_out(out: Path) -> None:
    """Check that what is paid for can be written, in the place of no file made elsewhere."""
    from evolve.gym.generating.parts import parts_of
    from policies.files import check_writable

    if out.suffix != ".json":
        raise ConfigError(f"--out must be a JSON file, but is {out}; let its name end in .json.")
    parts = parts_of(out)
    if os.path.isdir(out) or (os.path.exists(out) and not os.path.isdir(parts)):
        raise ConfigError(
            f"--out must name a new file, or one whose parts are in {parts}, but {out} is "
            "there already; give another path."
        )
    try:
        for path in (out, parts / out.name):
            check_writable(path)
    except OSError as error:
        raise ConfigError(
            f"--out must be a file that can be written, but {out} cannot be ({error.strerror}); "
            "give another path."
        ) from error


def _affordable(options: argparse.Namespace, brief: Brief, spec: ModelSpec) -> bool:
    """Print what is still to be called and paid; whether the user agrees to it."""
    from evolve.gym.generating.cost import estimate
    from evolve.gym.generating.parts import missing, parts_of
    from evolve.preview import agreed_to
    from evolve.tables import print_tables

    left = missing(parts_of(options.out), options.users)
    if not left:
        return True
    cost = estimate(brief, left, spec)
    print_tables([cost.table])
    say()
    return options.dry_run or options.yes or agreed_to(cost.total)


def _make(
    options: argparse.Namespace,
    brief: Brief,
    means: tuple[Models, Means, ModelSpec],
    interrupt: Interrupt,
) -> tuple[Made, Paid | None]:
    """Make what is missing, and what that paid; ``means`` are models, means and the spec."""
    from evolve.connecting import connected
    from evolve.gym.generating.making import Workshop
    from evolve.gym.generating.parts import opened, parts_of
    from evolve.lm.models import make_lm
    from evolve.money import Paid

    models, how, spec = means
    folder = parts_of(options.out)
    with ExitStack() as stack:
        parts = stack.enter_context(opened(folder, brief, spec.name))
        connection = stack.enter_context(connected(models, how, folder))
        workshop = Workshop(
            brief, make_lm(spec), parts, how.concurrency, say, asked=interrupt.asked
        )
        made = workshop.make(options.users)
        return made, None if connection is None else Paid.of(connection)


def _report(made: Made, out: Path, paid: Paid | None) -> None:
    """Write the file and say what is in it, what is missing, and what was paid."""
    from evolve.gym.generating.balance import balance_table
    from evolve.gym.generating.making import reasons
    from evolve.gym.sample import write_users
    from evolve.gym.users import users_of
    from evolve.spent_table import paid_table
    from evolve.tables import print_tables

    missing = reasons(made.failed)
    if not made.users:
        raise GenerationError(
            f"At least one user must be made, but each failed ({missing[0]}); give the same "
            "command again for another try, or name another model."
        )
    users = users_of(list(made.users), str(out))
    write_users(made.users, out)
    if missing:
        say("\n".join(missing))
        say("give the same command again for another try; what is made stays")
    tables = [balance_table(users)]
    if paid is not None:
        tables.append(paid_table(f"Paid: {paid.line}", (), paid))
    say()
    print_tables(tables)
    say(f"\nwrote {len(users)} users to {out}")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.gym.generate",
        description="Let a language model make an environment: simulated users of a domain with "
        "known, changing states, what they say, and questions that depend on it. All that it "
        "writes is checked and mended; what it would cost is said first.",
        epilog="It grows in a folder beside --out, from which the same command goes on after "
        "Ctrl-C or a crash, tries failed users again and adds more. Exit status 1 where a user is "
        "missing.",
    )
    add = parser.add_argument
    add("--domain", required=True, metavar="WHAT", help="the assistant: 'travel assistant'")
    add("--out", type=Path, required=True, metavar="FILE", help="environment file to write")
    add("--users", type=int, default=20, metavar="N", help="number of users (20)")
    add("--language", default="English", metavar="NAME", help="in which people talk (English)")
    add("--periods", type=int, default=8, metavar="N", help="of each life, of three months (8)")
    add("--questions", type=int, default=8, metavar="N", help="to each user (8)")
    add("--seed", type=int, default=0, metavar="S", help="of every random choice (0)")
    add("--model", default="offline", help="writes and checks: a LiteLLM name")
    others = [one for one in MODEL_ARGUMENTS if one.name not in {"model", "user-model"}]
    add_all(parser, others)
    add("--dry-run", action="store_true", help="say what it would call and pay, and end")
    add("--yes", action="store_true", help="do not ask before paying over $1, or an unknown price")
    return parser


if __name__ == "__main__":
    status = main()
    end_quietly()
    sys.exit(status)
