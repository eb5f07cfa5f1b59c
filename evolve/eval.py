"""``python -m evolve.eval``: score a policy on users, or compare it with another, as it is."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from evolve.arguments import MODEL_ARGUMENTS, WORKER_ARGUMENTS, add_all
from evolve.cli import CommandParser, limit_threads, run_command
from evolve.terminal import say
from policies.errors import ConfigError

if TYPE_CHECKING:
    from evolve.assess import Assessment
    from evolve.gym.users import User
    from evolve.means import Means
    from evolve.money import Paid
    from evolve.roles import Models
    from evolve.workers import WorldSpec
    from policies.policy import Policy

POLICY_FAILED = 1
BASELINES = ("none", "native")  # over which the memory gain is measured


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; status 1 where a policy failed by its own fault."""
    return run_command(lambda: _run(_parser().parse_args(argv)))


def _run(options: argparse.Namespace) -> int:
    limit_threads()
    from evolve.config import RANGES, environment_path
    from evolve.environment import load_environment
    from evolve.eval_report import tables_of, to_json
    from evolve.inputs import imported_table, load_policy
    from evolve.locomo.reading import is_locomo
    from evolve.means import make_means
    from evolve.ranges import check_range
    from evolve.roles import make_models
    from evolve.tables import print_tables

    given = vars(options)
    if options.users is not None:
        check_range("users", options.users, 1)
    for name in RANGES.keys() & given.keys():
        check_range(name, given[name], *RANGES[name])
    models, means = make_models(given), make_means(given)
    names = [options.policy, *([options.against] if options.against is not None else [])]
    policies = [load_policy(name, options.agent) for name in names]
    env = environment_path(options.env)
    if options.probes is None and is_locomo(env):
        return _run_dialogues(options, policies, models, means)
    environment = load_environment(env, options.probes)
    users = environment.users[: options.users]
    spec = _spec(options, models, means)
    baselines = BASELINES if options.gain else ()
    assessment, paid, model_notes = _assess(policies, users, spec, models, means, baselines)
    found = [table for table in map(imported_table, names) if table is not None]
    notes = [*environment.notes, *_fewer(options, len(environment.users)), *model_notes]
    notes += _notes(policies, environment.digest, assessment)
    if options.gain:
        notes.append("for the memory gain none and native live through the same users, too")
    if options.json:
        header = {"environment": environment.digest, "seed": options.seed, "notes": notes}
        say(to_json(header, assessment))
    else:
        say("\n".join(notes) + "\n")
        print_tables([*found, *tables_of(assessment, paid)])
    own_fault = any(rollout.failure_kind == "policy" for rollout in assessment.failures)
    return POLICY_FAILED if own_fault else 0


def _run_dialogues(
    options: argparse.Namespace, policies: Sequence[Policy], models: Models, means: Means
) -> int:
    """Score on LoCoMo's dialogues: what is found, and with a model what is answered."""
    from evolve.eval_report import named
    from evolve.inputs import called
    from evolve.locomo import assessment_report as report
    from evolve.locomo.assessment import answer_all, f1_difference, find_evidence
    from evolve.locomo.keeping import kept_line
    from evolve.locomo.reading import load_dialogues
    from evolve.roles import OFFLINE
    from evolve.tables import print_tables

    if options.gain:
        raise ConfigError(
            "--gain is measured by questions with choices, but --env holds dialogues of LoCoMo, "
            "whose questions are open; compare with a baseline by --against none or native."
        )
    whole = load_dialogues(options.env)
    dialogues = whole[: options.users]
    found = find_evidence(policies, dialogues)
    notes = [*report.notes_of(dialogues), *_fewer(options, len(whole))]
    notes += [called(models)] if models.real else []
    notes += [f"{named(p)}: {kept_line(p, dialogues)}" for p in policies if p.id in found]
    answers = difference = None
    if models.model != OFFLINE:
        answers = answer_all(policies, dialogues, _spec(options, models, means), models, means)
        notes += report.notes_on(answers)
        if len(answers.answered) > 1:
            one, other = (answers.answered[policy.id].scored for policy in policies)
            difference = f1_difference(one, other, options.seed)
            notes.append(report.difference_line(difference))
    elif not found:
        raise _unmeasured(policies)
    if options.json:
        say(report.to_json(notes, found, answers, difference))
    else:
        say("\n".join(notes) + "\n")
        print_tables(report.tables_of({p.id: named(p) for p in policies}, found, answers))
    failures = answers.failures if answers is not None else ()
    return POLICY_FAILED if any(one.failure_kind == "policy" for one in failures) else 0


def _fewer(options: argparse.Namespace, there: int) -> list[str]:
    """A note where the file holds fewer users than were asked for."""
    if options.users is None or options.users <= there:
        return []
    return [f"--users asks for {options.users}, but --env holds {there}: all of them are scored"]


def _unmeasured(policies: Sequence[Policy]) -> ConfigError:
    """What to say where there is neither a model nor evidence that a policy could find."""
    without = "Without a model only what raw turns hold can be measured, "
    if any(policy.architecture == "rag" for policy in policies):
        return ConfigError(
            f"{without}as far as questions name their evidence, but no question of --env names a "
            "turn; name a model by --model, or give a file with evidence."
        )
    return ConfigError(
        f"{without}as architecture rag keeps them, but --policy is {policies[0].architecture}; "
        "name a model by --model, or give a policy of rag."
    )


def _spec(options: argparse.Namespace, models: Models, means: Means) -> WorldSpec:
    from evolve.connecting import make_cast
    from evolve.workers import WorldSpec

    cast = make_cast(models, means.timeout)
    rounds = options.first_rounds, options.later_rounds
    return WorldSpec(cast.model, cast.user, options.seed, *rounds)


def _assess(
    policies: Sequence[Policy],
    users: Sequence[User],
    spec: WorldSpec,
    models: Models,
    means: Means,
    baselines: Sequence[str],
) -> tuple[Assessment, Paid | None, list[str]]:
    """The assessment, what it paid, and what must be known of models before numbers are read."""
    from evolve.assess import assess
    from evolve.connecting import connected, find_site, make_workers
    from evolve.inputs import OUTSIDE_LEXICON, STAND_IN, called
    from evolve.lm.coverage import lexicon_share
    from evolve.money import Paid
    from evolve.roles import OFFLINE

    notes = [called(models)] if models.real else []
    with ExitStack() as stack:
        connection = stack.enter_context(connected(models, means, None))
        workers = make_workers(stack, spec, find_site(stack, means), connection)
        assessment = assess(policies, users, spec, workers, baselines)
        if OFFLINE in (models.model, models.user_model):
            notes.append(STAND_IN)
            (known,) = workers.run([partial(lexicon_share, users)])
            if known < 0.5:
                notes.append(OUTSIDE_LEXICON)
        paid = None if connection is None else Paid.of(connection)
        notes += [] if paid is None else [paid.line]
    return assessment, paid, notes


def _notes(policies: Sequence[Policy], environment: str, assessment: Assessment) -> list[str]:
    """What the reader must know of the policies before the numbers."""
    from evolve.eval_report import named
    from evolve.inputs import unread

    notes = []
    for policy in policies:
        lineage = policy.lineage
        if lineage.run is not None and lineage.environment in {None, environment}:
            where = "on these very users" if lineage.environment else "on users not named in it"
            notes.append(
                f"{named(policy)} was evolved {where} (run {lineage.run}): those that it learned "
                "from flatter it"
            )
    if len(policies) > len({policy.id for policy in policies}):
        notes.append("both policies are one and the same: their difference is nothing")
    for one in {each.policy.id: each for each in assessment.assessed}.values():
        warning = unread(round(one.total.format * one.total.n), one.total.n, named(one.policy))
        notes.extend([] if warning is None else [warning])
    for rollout in assessment.failures:
        whose = "its own fault" if rollout.failure_kind == "policy" else "from outside"
        notes.append(
            f"{rollout.policy[:8]} failed on user {rollout.user}, who is left out ({whose}): "
            f"{rollout.failure}"
        )
    return notes


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m evolve.eval",
        description="Score a memory policy on simulated users, or compare it with another: "
        "accuracy, stages, trace, memory score, tokens. Nothing is evolved or kept. By default "
        "every role is played by the offline model, a deterministic stand-in that is not an LLM.",
        epilog="Exit status 1 where a policy failed by its own fault.",
    )
    add = parser.add_argument
    known = "none, native, rag, awe, awi, mem0 or a policy file"
    add("--policy", required=True, metavar="A", help=f"what is scored: {known}")
    add("--against", metavar="B", help="what it is compared with, user by user")
    add(
        "--gain",
        action="store_true",
        help="the memory gain of A over none and native, too, which live through the same users: "
        "that takes their calls",
    )
    add("--agent", metavar="CLASS", help="a memory system of your own, as package:Class")
    add("--env", default="sample", metavar="FILE", help="environment file (the packaged sample)")
    add("--probes", metavar="FILE", help="what is true when, where --env holds chats")
    add("--seed", type=int, default=0, metavar="S", help="of every random choice (0)")
    add("--users", type=int, metavar="N", help="the first N users of the file (all)")
    add(
        "--first-rounds", type=int, default=1, metavar="R", help="rounds of a session, period 0 (1)"
    )
    add("--later-rounds", type=int, default=2, metavar="R", help="rounds of a session, later (2)")
    add_all(parser, (*MODEL_ARGUMENTS, *WORKER_ARGUMENTS))
    add("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (all cores)")
    add("--json", action="store_true", help="print JSON instead of tables")
    return parser


if __name__ == "__main__":
    sys.exit(main())
