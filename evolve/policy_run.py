"""One run from its options to its summary: puts the parts together and closes with tables."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.budget import Ledger
from evolve.config import Options
from evolve.connecting import Site, find_site
from evolve.display import Display
from evolve.engine import Engine, make_engine
from evolve.field import Field
from evolve.finish import Outcome, finish, summarize
from evolve.folder import RunFolder, logging_to
from evolve.inputs import OUTSIDE_LEXICON, STAND_IN, called
from evolve.journal import Journal, check_same, read_header
from evolve.lm.meter import Meter
from evolve.lm.models import Connection, make_lm
from evolve.means import Means
from evolve.money import SENT_FILE, Paid, Purse, Terms
from evolve.opening import Opening
from evolve.optimize.architecture import MovingProposer
from evolve.optimize.archive import Archive, Version
from evolve.optimize.base import Proposer
from evolve.optimize.credit import credit_summary
from evolve.optimize.mirror import Mirror
from evolve.optimize.strategy import GATED, STRATEGIES, make_proposer
from evolve.plan import Plan
from evolve.prepare import Prepared, prepare
from evolve.proposals import Proposals
from evolve.report_tables import closing_tables
from evolve.roles import OFFLINE, Models
from evolve.setup import Setup, Thrift

if TYPE_CHECKING:
    from evolve.estimate import Estimate

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


@dataclass(frozen=True, slots=True)
class _Terms:
    """What a run may spend, settled once: prices, estimates and speed may change before a resume.

    Attributes:
        rollouts: In all.
        kept: Calls, tokens and dollars for the final scoring, where the budget is in those.
    """

    rollouts: int
    kept: Mapping[str, float]


def policy_run(
    options: Options,
    folder: Path,
    means: Means,
    watch: Watch,
    *,
    resume: bool = False,
    estimate: Estimate | None = None,
) -> Outcome:
    """Run or resume a run and write its files.

    Args:
        options: What identifies the run.
        folder: Its folder.
        means: What it works with.
        watch: Who watches.
        resume: Whether the folder holds the run already.
        estimate: Of a new run, where it was made already.

    Returns:
        What was found on test users.

    Raises:
        UserError: An option, a file, the budget or the folder is not usable.
        RunStoppedError: The watcher asked for it.
    """
    began = time.monotonic()
    prepared = prepare(options, means)
    header = run_header(prepared, folder, resume=resume)
    terms = None
    if not resume or isinstance(options.budget, int):
        # Before there is a folder: a budget that is too small leaves nothing behind.
        terms = _terms(prepared, means, estimate)
        prepared.plan(terms.rollouts)
    with ExitStack() as stack:
        site = find_site(stack, means)  # before there is a folder, too
        journal = stack.enter_context(Journal(folder, header, resume=resume))
        stack.enter_context(logging_to(folder))
        if not resume:  # of a run that was called so before, and paid nothing
            (folder / SENT_FILE).unlink(missing_ok=True)
        terms = _kept_terms(prepared, means, journal, terms)
        run = _begin(prepared, terms, site, journal, watch, stack)
        run.evolution.run()
        outcome = _end(run)
        watch.display.say(f"{folder}: summary.json, best.yaml; {time.monotonic() - began:.0f} s")
    if means.mlflow is not None:
        from evolve.mlflow_log import log_run

        watch.display.say(log_run(folder, means.mlflow))
    return outcome


def run_header(prepared: Prepared, folder: Path, *, resume: bool) -> dict[str, Any]:
    """What identifies the run; that of a resumed one is checked before anything is planned."""
    header = {
        "run": folder.name,
        "options": prepared.options.as_dict(),
        "environment": prepared.environment,
        "seed_policy": prepared.seed.id,
    }
    if resume:
        began = read_header(folder)
        header["run"] = began.get("run", folder.name)  # its folder may have been renamed since
        check_same(began, header, folder)
    return header


@dataclass(frozen=True, slots=True)
class _Run:
    """A run that has begun.

    Attributes:
        setup: What it is made of.
        evolution: Its generations.
        purse: Its budget.
        models: Who plays which role.
        connection: To real models, if there are any.
    """

    setup: Setup
    evolution: Engine
    purse: Purse
    models: Models
    connection: Connection | None

    @property
    def paid(self) -> Paid | None:
        """What was paid so far; None if nothing ever is."""
        return None if self.connection is None else Paid.of(self.connection)


def _begin(
    prepared: Prepared,
    terms: _Terms,
    site: Site,
    journal: Journal,
    watch: Watch,
    stack: ExitStack,
) -> _Run:
    """Put the parts of a run together."""
    options, means, display = prepared.options, site.means, watch.display
    field, plan = prepared.plan(terms.rollouts)
    run_folder = RunFolder(journal.folder, journal.header["run"])
    run_folder.sweep()
    run_folder.write_seed(prepared.seed)
    _introduce(prepared, field, plan, journal, display)
    settled = Terms(options.units, plan.budget, float(plan.set_aside), terms.kept)
    ledger = Ledger(Fraction(plan.budget), plan.set_aside)
    opening = Opening(prepared, site, journal, watch, stack)
    opened = opening.open(settled, ledger, prepared.architectures)
    evaluator = opened.evaluator
    rewriter = Meter(make_lm(prepared.cast.rewrite))
    proposer: Proposer | None = None
    if STRATEGIES[options.strategy].make is not None:
        proposer = make_proposer(options.strategy, rewriter, prepared.rules(), options.seed)
        if options.architecture == "any":
            proposer = MovingProposer(proposer)
    mirror = None
    if means.storage is not None:
        mirror = stack.enter_context(_mirror(means.storage, journal, display))
    setup = Setup(
        evaluator,
        Proposals(proposer, rewriter, evaluator, mirror),
        field,
        plan,
        run_folder,
        display,
        options.seed,
        prepared.environment,
        Thrift(screening=STRATEGIES[options.strategy].screened),
    )
    archive = Archive((Version(prepared.seed, {}),), constraints=options.constraints)
    engine = make_engine(options.strategy, setup, archive, rewriter)
    return _Run(setup, engine, opened.purse, options.models, opened.connection)


def _mirror(url: str, journal: Journal, display: Display) -> Mirror:
    header = dict(journal.header)
    name = header.pop("run")
    owner = hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()[:12]
    return Mirror(url, name, owner, display.say)


def _end(run: _Run) -> Outcome:
    """Score the test users, write the files of the end, and close with tables."""
    run.purse.open_kept()
    setup, archive = run.setup, run.evolution.book.archive
    outcome = finish(setup.evaluator, setup.field, setup.plan, archive, setup.seed)
    rolled_back = _write(run, outcome)
    if not run.evolution.book.judged:
        setup.display.say(f"no candidate was judged: {run.evolution.reason}")
    too_dear = archive.constraints.too_dear(archive.best().tokens)
    if too_dear is not None:
        setup.display.say(f"no version keeps the limit: of the best, {too_dear}")
    units = run.purse.spent
    setup.display.tables(closing_tables(setup, run.evolution, outcome, run.paid, units))
    setup.display.say(outcome.line)
    if rolled_back:
        setup.display.say(rolled_back)
    return outcome


def _terms(prepared: Prepared, means: Means, estimate: Estimate | None) -> _Terms:
    """What the budget comes to in rollouts, and what of its other units is kept for the end."""
    units = prepared.options.units
    if units.keys() <= {"rollouts", "minutes"} and "rollouts" in units:
        return _Terms(int(units["rollouts"]), {})
    if estimate is None:
        from evolve.estimate import Estimator

        estimate = Estimator(prepared, means).within(units)
    kept = {unit: amount for unit, amount in estimate.kept.items() if unit in units}
    return _Terms(estimate.plan.budget, kept)


def _kept_terms(prepared: Prepared, means: Means, journal: Journal, terms: _Terms | None) -> _Terms:
    """The terms that the run began with."""
    if terms is not None and isinstance(prepared.options.budget, int):
        return terms
    data = journal.once("terms", "budget", lambda: asdict(terms or _terms(prepared, means, None)))
    return _Terms(**data)


def _introduce(
    prepared: Prepared, field: Field, plan: Plan, journal: Journal, display: Display
) -> None:
    options = prepared.options
    strategy = STRATEGIES[options.strategy]
    buys = plan.describe(field)
    if strategy.engine != GATED:
        kept = f"{float(plan.set_aside):.1f} of them kept for {len(plan.test)} test users"
        buys = f"{plan.budget} rollouts, {kept}; {strategy.meaning}"
    display.say(f"run {journal.folder}: {buys}")
    for note in prepared.notes:
        display.say(note)
    if options.models.real:
        display.say(called(options.models))
        was, now = journal.header["options"].get("api_base"), options.models.api_base
        if was != now:
            display.say(f"--api-base was {was} when the run began and is now {now}")
    if OFFLINE in (options.models.model, options.models.user_model):
        display.say(STAND_IN)
        # Journaled, so that a run that is only replayed need not load the lexicon.
        if journal.once("introduction", "lexicon_share", lambda: _share(field)) < 0.5:
            display.say(OUTSIDE_LEXICON)
    if options.max_memory_tokens is not None:
        limit = options.max_memory_tokens
        display.say(f"no policy's memory, the seed's included, holds more than {limit} tokens")
    if field.holdout == "periods":
        display.say(LITTLE_POWER)


def _share(field: Field) -> float:
    from evolve.lm.coverage import lexicon_share

    return lexicon_share(field.test)


def _write(run: _Run, outcome: Outcome) -> str | None:
    """Write the files of the end; what is said where the run was rolled back."""
    setup, archive = run.setup, run.evolution.book.archive
    scores: dict[str, object] = {"split": "test", "model": setup.evaluator.spec.model.name}
    best, gain = outcome.tested.get("best"), outcome.gain
    if best is not None:
        scores |= {
            "answers": best.scores.n,
            "accuracy": best.scores.accuracy,
            "memory": best.scores.memory,
            "memory_gain": None if gain is None else [gain.mean, gain.low, gain.high],
        }
    back, told = setup.evaluator.journal.rollback, None
    if back is None:
        setup.folder.write_best(archive.best().policy, scores)
    else:
        versions = [version.policy for version in archive.versions]
        told = setup.folder.write_rolled_back(back, versions, archive.best().policy)
    setup.folder.write_pareto(archive)
    summary = summarize(outcome, archive, setup.evaluator, setup.plan, run.evolution.reason)
    if run.evolution.screen is not None:
        summary["screen"] = asdict(run.evolution.screen)
    probes = setup.evaluator.probing.summary()
    if probes:
        summary["probes"] = probes
    summary["credit"] = credit_summary(run.evolution.book.verdicts, run.evolution.mass)
    if run.paid is not None:
        # What is only printed once more found nothing in the log: its counts say less.
        if not setup.evaluator.journal.grown and setup.folder.has_summary:
            return told
        summary |= {"models": asdict(run.models), "paid": run.paid.summary()}
    setup.folder.write_summary(summary)
    return told
