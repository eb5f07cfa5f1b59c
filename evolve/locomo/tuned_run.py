"""A run that searches settings by the evidence: from its options to its folder, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from evolve.config import Options
from evolve.folder import RunFolder, logging_to
from evolve.gym.users import file_digest
from evolve.inputs import load_policy
from evolve.journal import Journal
from evolve.locomo.dialogues import Dialogue
from evolve.locomo.gating import LOOKS, Gate, Look
from evolve.locomo.keeping import kept_line
from evolve.locomo.reading import load_dialogues, odd_lines
from evolve.locomo.retrieval import Finder
from evolve.locomo.tuned_end import Ended, best_scores, closing, end, front_data, summary
from evolve.locomo.tuning import OPERATOR, Parts, Trial, measure, propose, split
from evolve.optimize.archive import Version
from evolve.policy_run import Watch
from evolve.seeding import derive
from policies.errors import BudgetTooSmallError, ConfigError, RunStoppedError
from policies.policy import Lineage, Policy

_KNOWN = ("budget", "env", "policy", "models", "seed", "max_answer_tokens", "probes")
_WITHOUT_MODEL = (
    "nothing is answered: settings are searched by how much of the evidence they find, which takes "
    "no model; the whole dialogue is in the store, and nothing is retired"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a budget buys; a rollout is one dialogue searched with one policy.

    Attributes:
        parts: Who is searched for what.
        trials: Settings to try on the train dialogues, the seed's among them.
        limit: Of tokens that may be shown for a question, on average.
        budget: Rollouts in all.
    """

    parts: Parts
    trials: int
    limit: int
    budget: int

    @property
    def kept(self) -> int:
        """Rollouts for gate and test: seed and candidates there, seed and best here."""
        return round(self.spent(0, LOOKS))

    def spent(self, trials: int, looks: int) -> float:
        """Rollouts that so many trials and so many looks at the gate take, the test included."""
        parts = self.parts
        searched = trials * len(parts.train) + (1 + looks) * len(parts.gate)
        return float(searched + 2 * len(parts.test))


def tuned_run(options: Options, folder: Path, watch: Watch, *, resume: bool = False) -> Ended:
    """Run or resume a search and write its files.

    Args:
        options: What identifies the run; all roles are offline.
        folder: Its folder.
        watch: Who watches.
        resume: Whether the folder holds the run already.

    Raises:
        UserError: An option, a file, the budget or the folder is not usable.
        RunStoppedError: The watcher asked for it.
    """
    _check(options)
    dialogues, seed = load_dialogues(options.env), _seed(options.policy)
    plan = make_plan(options, dialogues, seed)
    digest = file_digest(options.env)
    header = {
        "run": folder.name,
        "options": options.as_dict(),
        "environment": digest,
        "seed_policy": seed.id,
    }
    with Journal(folder, header, resume=resume) as journal, logging_to(folder):
        files = RunFolder(folder, journal.header["run"])
        files.sweep()
        files.write_seed(seed)
        _introduce(folder, plan, dialogues, watch)
        trials = _search(plan, seed, options.seed, journal, watch)
        lineage = Lineage((seed.id,), 1, OPERATOR, None, files.name, digest)
        gate = Gate(Finder(plan.parts.gate), seed, trials, plan.limit)
        looks = gate.looks(lineage, journal)
        for look in looks:
            watch.display.say(f"{look.name} {look.policy.short_id} {look.verdict.reason}")
            files.write_candidate(look.name, look.policy, look.verdict)
        last = looks[-1]
        best = last.policy if last.verdict.accepted else seed
        ended = end(plan.parts, seed, best, plan.limit, options.seed)
        rolled_back = _write_policies(files, ended, last, journal)
        files.write_front(front_data(ended, trials))
        counted = {"budget": plan.budget, "spent": plan.spent(len(trials), len(looks))}
        files.write_summary(summary(ended, trials) | counted)
        watch.display.tables(closing(ended, trials))
        for line in (*ended.lines, kept_line(best, plan.parts.test), rolled_back):
            if line is not None:
                watch.display.say(line)
    return ended


def _write_policies(files: RunFolder, ended: Ended, last: Look, journal: Journal) -> str | None:
    """Write the version that was accepted and what is in force; a line if that was rolled back."""
    if last.verdict.accepted:
        files.write_version(Version(last.policy, {}))
    if journal.rollback is None:
        files.write_best(ended.best, best_scores(ended))
        return None
    return files.write_rolled_back(journal.rollback, (last.policy, ended.seed), ended.best)


def _seed(name: str) -> Policy:
    """The seed policy, which must keep raw turns."""
    seed = load_policy(name)
    if seed.architecture != "rag":
        raise ConfigError(
            "Evidence is searched for in raw turns, as architecture rag keeps them, but --policy "
            f"{name} is {seed.architecture}; give rag or a policy file of it, or name a model by "
            "--model."
        )
    return seed


def make_plan(options: Options, dialogues: Sequence[Dialogue], seed: Policy) -> Plan:
    """What the budget buys.

    Raises:
        ConfigError: There are too few dialogues, or one without evidence.
        BudgetTooSmallError: It does not buy a trial beside the seed's own.
    """
    parts, budget = split(dialogues, options.seed), int(options.units["rollouts"])
    limit = options.max_answer_tokens or seed.settings["max_memory_tokens"]
    assert isinstance(limit, int)  # rag has it
    kept = Plan(parts, 0, limit, budget).kept
    trials = (budget - kept) // len(parts.train)
    if trials < 2:
        raise BudgetTooSmallError(
            f"A search needs {kept} rollouts for gate and test and {len(parts.train)} for each of "
            f"two trials at least, but --budget is {options.budget}; give "
            f"{kept + 2 * len(parts.train)} or more."
        )
    return Plan(parts, trials, limit, budget)


def _check(options: Options) -> None:
    """Refuse what a search by the evidence does not know."""
    if options.units.keys() != {"rollouts"}:
        raise ConfigError(
            "A search by the evidence takes a budget in rollouts, each one dialogue searched with "
            f"one policy, but --budget is {options.budget}; give a number."
        )
    usual = Options(1)
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name not in _KNOWN and value != getattr(usual, field.name):
            raise ConfigError(
                f"--{field.name.replace('_', '-')} says how rollouts are lived or judged, but "
                f"settings are searched by the evidence without any, and it is {value!r}; leave it "
                "out, or name a model by --model."
            )


def _introduce(folder: Path, plan: Plan, dialogues: Sequence[Dialogue], watch: Watch) -> None:
    parts = plan.parts
    watch.display.say(
        f"run {folder}: {plan.trials} settings are tried on {len(parts.train)} dialogues, the best "
        f"of at most {plan.limit} tokens shown goes to the gate on {len(parts.gate)}, and "
        f"{len(parts.test)} are kept for the test"
    )
    for line in (_WITHOUT_MODEL, *odd_lines(dialogues)):
        watch.display.say(line)


def _search(plan: Plan, seed: Policy, run_seed: int, journal: Journal, watch: Watch) -> list[Trial]:
    """Try settings, the seed's first; every trial is journaled."""
    finder = Finder(plan.parts.train)
    trials: list[Trial] = []
    settings: Mapping[str, Any] | None = seed.settings
    while settings is not None and len(trials) < plan.trials:
        if watch.stopping():
            raise RunStoppedError("stopped at a safe point")
        make = partial(_tried, finder, settings)
        trials.append(Trial(**journal.once("trial", f"{len(trials):04d}", make)))
        watch.display.progress(len(trials) * len(plan.parts.train), replayed=journal.replaying)
        if len(trials) < plan.trials:
            settings = propose(trials, plan.limit, derive(run_seed, "locomo", len(trials)))
    return trials


def _tried(finder: Finder, settings: Mapping[str, Any]) -> dict[str, Any]:
    return asdict(measure(finder, settings))
