"""One run from its options to its summary: puts the parts together and closes with tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from evolve.budget import Ledger
from evolve.config import Options
from evolve.display import Display
from evolve.evaluate import Evaluator
from evolve.evolution import Evolution, Setup
from evolve.field import Field, possible_splits
from evolve.finish import Outcome, finish, summarize
from evolve.folder import RunFolder, logging_to
from evolve.gym.users import User, file_digest, load_users
from evolve.inputs import OUTSIDE_LEXICON, STAND_IN, load_policy
from evolve.journal import Journal, check_same, read_header
from evolve.lm.meter import Meter
from evolve.optimize.archive import Archive, Version
from evolve.optimize.placebo import check_architecture
from evolve.optimize.strategy import make_proposer
from evolve.plan import Plan, make_plan
from evolve.proposals import Proposals
from evolve.report_tables import closing_tables
from evolve.workers import HereWorkers, ProcessWorkers, Workers, WorldSpec, make_lm
from policies.errors import ConfigError
from policies.policy import Policy
from policies.text_rules import RewriteRules

LITTLE_POWER = (
    "the split is by time: every user is in every part, clusters are (user, question) pairs, and "
    "what is found has little power to say how other users would fare"
)


@dataclass(frozen=True, slots=True)
class Watch:
    """Who watches a run.

    Attributes:
        display: What the watcher sees.
        stopping: Whether the watcher asked the run to stop at the next safe point.
    """

    display: Display
    stopping: Callable[[], bool]


def policy_run(
    options: Options, folder: Path, jobs: int, watch: Watch, *, resume: bool = False
) -> Outcome:
    """Run or resume a run and write its files.

    Args:
        options: What identifies the run.
        folder: Its folder.
        jobs: Processes, at least 1; changes nothing but the time.
        watch: Who watches.
        resume: Whether the folder holds the run already.

    Returns:
        What was found on test users.

    Raises:
        UserError: An option, a file, the budget or the folder is not usable.
        RunStoppedError: The watcher asked for it.
    """
    began = time.monotonic()
    if jobs < 1:
        raise ConfigError(f"--jobs must be at least 1, but is {jobs}; give a larger number.")
    users = load_users(options.env_path)
    seed = load_policy(options.policy)
    if options.strategy == "placebo":
        check_architecture(seed.architecture)
    header = _header(options, seed, folder, resume=resume)
    spec = WorldSpec(options.model, options.seed, options.first_rounds, options.later_rounds)
    splits = possible_splits(users, options.holdout, options.seed)
    native = seed.architecture == "native"
    field, plan = make_plan(options.budget, splits, spec.build(), native=native)
    display = watch.display
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(folder, header, resume=resume))
        stack.enter_context(logging_to(folder))
        run_folder = RunFolder(folder, header["run"])
        run_folder.sweep()
        _introduce(options, field, plan, journal, display)
        workers: Workers = HereWorkers()
        if jobs > 1:
            workers = stack.enter_context(ProcessWorkers(jobs))
        evaluator = Evaluator(
            journal,
            Ledger(Fraction(plan.budget), plan.set_aside),
            workers,
            spec,
            watch.stopping,
            lambda lived: display.progress(lived, replayed=journal.replaying),
        )
        rules = RewriteRules.build((u.schema for u in users), _words_of(users))
        rewriter = Meter(make_lm(options.model))
        proposer = make_proposer(options.strategy, rewriter, rules, options.seed)
        proposals = Proposals(proposer, rewriter, evaluator)
        archive = Archive((Version(seed, {}),))
        setup = Setup(
            evaluator,
            proposals,
            field,
            plan,
            run_folder,
            display,
            options.seed,
            header["environment"],
        )
        evolution = Evolution(setup, archive)
        evolution.run()
        outcome = finish(evaluator, field, plan, evolution.archive, options.seed)
        _write(setup, evolution, outcome)
        display.tables(closing_tables(setup, evolution, outcome))
        display.say(outcome.line)
        display.say(f"{folder}: summary.json, best.yaml; {time.monotonic() - began:.0f} s")
    return outcome


def _header(options: Options, seed: Policy, folder: Path, *, resume: bool) -> dict[str, Any]:
    """What identifies the run; that of a resumed one is checked before anything is planned."""
    header = {
        "run": folder.name,
        "options": options.as_dict(),
        "environment": file_digest(options.env_path),
        "seed_policy": seed.id,
    }
    if resume:
        began = read_header(folder)
        header["run"] = began.get("run", folder.name)  # its folder may have been renamed since
        check_same(began, header, folder)
    return header


def _introduce(
    options: Options, field: Field, plan: Plan, journal: Journal, display: Display
) -> None:
    display.say(f"run {journal.folder}: {plan.describe(field)}")
    if options.model == "offline":
        display.say(STAND_IN)
        # Journaled, so that a run that is only replayed need not load the lexicon.
        if journal.once("introduction", "lexicon_share", lambda: _share(field)) < 0.5:
            display.say(OUTSIDE_LEXICON)
    if field.holdout == "periods":
        display.say(LITTLE_POWER)


def _share(field: Field) -> float:
    from evolve.lm.coverage import lexicon_share

    return lexicon_share(field.test)


def _words_of(users: tuple[User, ...]) -> list[str]:
    """What a rewrite must not copy from: questions, choices, users' own words."""
    texts = []
    for user in users:
        texts.append(user.profile)
        texts += [session.query for period in user.periods for session in period.sessions]
        for question in user.questions:
            texts += [question.query, *(choice.answer for choice in question.choices)]
    return texts


def _write(setup: Setup, evolution: Evolution, outcome: Outcome) -> None:
    scores: dict[str, object] = {"split": "test", "model": setup.evaluator.spec.model}
    best, gain = outcome.tested.get("best"), outcome.gain
    if best is not None:
        scores |= {
            "answers": best.scores.n,
            "accuracy": best.scores.accuracy,
            "memory": best.scores.memory,
            "memory_gain": None if gain is None else [gain.mean, gain.low, gain.high],
        }
    setup.folder.write_best(evolution.archive.best().policy, scores)
    setup.folder.write_summary(
        summarize(outcome, evolution.archive, setup.evaluator, setup.plan, evolution.reason)
    )
