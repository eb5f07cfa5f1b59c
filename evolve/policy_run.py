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
from evolve.config import OFFLINE, Means, Models, Options
from evolve.connecting import Site, connected, find_site, make_workers
from evolve.display import Display
from evolve.evaluate import Evaluator
from evolve.evolution import Evolution, Setup
from evolve.field import Field
from evolve.finish import Outcome, finish, summarize
from evolve.folder import RunFolder, logging_to
from evolve.inputs import OUTSIDE_LEXICON, STAND_IN, called
from evolve.journal import Journal, check_same, read_header
from evolve.lm.meter import Meter
from evolve.lm.models import Connection, make_lm
from evolve.money import SENT_FILE, Paid, Purse, Terms, Timed
from evolve.optimize.archive import Archive, Version
from evolve.optimize.mirror import Mirror, Mirrored
from evolve.optimize.strategy import make_proposer
from evolve.plan import Plan
from evolve.prepare import Prepared, prepare
from evolve.proposals import Proposals
from evolve.report_tables import closing_tables
from policies.settings import applicable

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
    header = _header(prepared, folder, resume=resume)
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
    return outcome


def _header(prepared: Prepared, folder: Path, *, resume: bool) -> dict[str, Any]:
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
    evolution: Evolution
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
    _introduce(options, field, plan, journal, display)
    connection = stack.enter_context(connected(options.models, means, journal.folder))
    workers = make_workers(stack, prepared.spec, site, connection)
    settled = Terms(options.units, plan.budget, float(plan.set_aside), terms.kept)
    purse = Purse(settled, connection, journal.folder, display.say)
    stack.callback(purse.close)
    if "minutes" in options.units:
        workers = Timed(workers, purse)

    evaluator = Evaluator(
        journal,
        Ledger(Fraction(plan.budget), plan.set_aside),
        workers,
        prepared.spec,
        watch.stopping,
        _progress(display, purse, journal),
    )
    rewriter = Meter(make_lm(prepared.cast.rewrite))
    proposer = make_proposer(options.strategy, rewriter, prepared.rules(), options.seed)
    if means.storage is not None:
        mirror = stack.enter_context(_mirror(means.storage, prepared, journal, display))
        proposer = Mirrored(proposer, mirror)
    setup = Setup(
        evaluator,
        Proposals(proposer, rewriter, evaluator),
        field,
        plan,
        run_folder,
        display,
        options.seed,
        prepared.environment,
    )
    archive = Archive((Version(prepared.seed, {}),))
    return _Run(setup, Evolution(setup, archive), purse, options.models, connection)


def _progress(display: Display, purse: Purse, journal: Journal) -> Callable[[float], None]:
    """Tells the watcher and the purse how much was lived."""

    def told(lived: float) -> None:
        display.progress(lived, replayed=journal.replaying)
        purse.look(lived, replayed=journal.replaying)

    return told


def _mirror(url: str, prepared: Prepared, journal: Journal, display: Display) -> Mirror:
    header = dict(journal.header)
    name = header.pop("run")
    owner = hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()[:12]
    return Mirror(url, name, owner, applicable(prepared.seed.architecture), display.say)


def _end(run: _Run) -> Outcome:
    """Score the test users, write the files of the end, and close with tables."""
    run.purse.open_kept()
    setup = run.setup
    outcome = finish(setup.evaluator, setup.field, setup.plan, run.evolution.archive, setup.seed)
    _write(run, outcome)
    if not run.evolution.judged:
        setup.display.say(f"no candidate was judged: {run.evolution.reason}")
    units = run.purse.spent
    setup.display.tables(closing_tables(setup, run.evolution, outcome, run.paid, units))
    setup.display.say(outcome.line)
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
    options: Options, field: Field, plan: Plan, journal: Journal, display: Display
) -> None:
    display.say(f"run {journal.folder}: {plan.describe(field)}")
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
    if field.holdout == "periods":
        display.say(LITTLE_POWER)


def _share(field: Field) -> float:
    from evolve.lm.coverage import lexicon_share

    return lexicon_share(field.test)


def _write(run: _Run, outcome: Outcome) -> None:
    setup, archive = run.setup, run.evolution.archive
    scores: dict[str, object] = {"split": "test", "model": setup.evaluator.spec.model.name}
    best, gain = outcome.tested.get("best"), outcome.gain
    if best is not None:
        scores |= {
            "answers": best.scores.n,
            "accuracy": best.scores.accuracy,
            "memory": best.scores.memory,
            "memory_gain": None if gain is None else [gain.mean, gain.low, gain.high],
        }
    setup.folder.write_best(archive.best().policy, scores)
    summary = summarize(outcome, archive, setup.evaluator, setup.plan, run.evolution.reason)
    if run.paid is not None:
        # What is only printed once more found nothing in the log: its counts say less.
        if not setup.evaluator.journal.grown and setup.folder.has_summary:
            return
        summary |= {"models": asdict(run.models), "paid": run.paid.summary()}
    setup.folder.write_summary(summary)
