"""A run that searches settings by the evidence: from its options to its folder, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

from evolve.config import Options
from evolve.folder import RunFolder, logging_to
from evolve.gym.recorded import OFF_POLICY
from evolve.gym.users import file_digest
from evolve.inputs import load_policy
from evolve.journal import Journal
from evolve.locomo.dialogues import Dialogue
from evolve.locomo.keeping import kept_line
from evolve.locomo.reading import load_dialogues, odd_lines
from evolve.locomo.retrieval import Finder, Found, mean_of
from evolve.locomo.retrieval_tables import front_table, retrieval_table
from evolve.locomo.tuning import (
    OPERATOR,
    GateVerdict,
    Parts,
    Trial,
    choose,
    front,
    gain_interval,
    judge,
    measure,
    propose,
    split,
)
from evolve.optimize.archive import Version
from evolve.optimize.base import Verdict
from evolve.policy_run import Watch
from evolve.seeding import derive
from evolve.stats import Interval
from policies.errors import BudgetTooSmallError, ConfigError, RunStoppedError
from policies.policy import Lineage, Policy

_CANDIDATE = "gen-001.0"
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
        """Rollouts for gate and test: seed and candidate there."""
        return 2 * (len(self.parts.gate) + len(self.parts.test))


@dataclass(frozen=True, slots=True)
class Ended:
    """What the run found on the test dialogues.

    Attributes:
        best: The policy that the run ends with.
        seed_found: What the seed finds.
        best_found: What the best finds.
        gain: Of the best over the seed, in recall, over dialogues.
    """

    best: Policy
    seed_found: tuple[Found, ...]
    best_found: tuple[Found, ...]
    gain: Interval


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
        chosen = choose(trials, plan.limit)
        lineage = Lineage((seed.id,), 1, OPERATOR, None, files.name, digest)
        candidate = seed.derive(settings=chosen.settings, name=f"rag-{_CANDIDATE}", lineage=lineage)
        verdict = _verdict(plan, seed, candidate, trials, journal)
        watch.display.say(f"{_CANDIDATE} {candidate.short_id} {verdict.reason}")
        files.write_candidate(_CANDIDATE, candidate, verdict)
        if verdict.accepted:
            files.write_version(Version(candidate, {}))
        ended = _test(plan, seed, candidate if verdict.accepted else seed, options.seed)
        if journal.rollback is None:
            files.write_best(ended.best, _scores(ended))
        else:
            files.write_rolled_back(journal.rollback, (seed, candidate))
        _write_summary(files, plan, trials, verdict, ended)
        _close(trials, ended, watch)
        watch.display.say(kept_line(ended.best, plan.parts.test))
    return ended


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
    for line in (_WITHOUT_MODEL, OFF_POLICY, *odd_lines(dialogues)):
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


def _verdict(
    plan: Plan, seed: Policy, candidate: Policy, trials: Sequence[Trial], journal: Journal
) -> Verdict:
    """What the gate says of the candidate, journaled as any verdict is."""

    def make() -> dict[str, Any]:
        chosen = choose(trials, plan.limit)
        gained = chosen.recall - trials[0].recall
        if candidate.id == seed.id:
            stage, accepted = "duplicate", False
            reason = "is the seed: no other settings within the limit found more evidence"
        else:
            finder = Finder(plan.parts.gate)
            found = judge(finder.find(candidate.settings), finder.find(seed.settings))
            stage, accepted, reason = "gate", found.accepted, _reason(found)
        return asdict(
            Verdict(
                candidate=candidate.id,
                incumbent=seed.id,
                settings=dict(candidate.settings),
                operator=OPERATOR,
                accepted=accepted,
                stage=stage,
                reason=reason,
                minibatch_difference=gained,
                tokens_per_answer=chosen.tokens,
            )
        )

    return Verdict(**journal.once("verdict", _CANDIDATE, make))


def _reason(found: GateVerdict) -> str:
    became = "accepted" if found.accepted else "rejected"
    return (
        f"{became}, mean difference in evidence recall {found.difference:+.4f} over "
        f"{found.dialogues} dialogues, p {found.p:.2g}"
    )


def _test(plan: Plan, seed: Policy, best: Policy, run_seed: int) -> Ended:
    finder = Finder(plan.parts.test)
    before, after = finder.find(seed.settings), finder.find(best.settings)
    return Ended(best, before, after, gain_interval(after, before, run_seed))


def _scores(ended: Ended) -> dict[str, object]:
    """What ``best.yaml`` says of the best policy."""
    best = mean_of(ended.best_found)
    return {
        "split": "test",
        "questions": best.questions,
        "evidence_recall": best.recall,
        "evidence_precision": best.precision,
        "tokens_shown": best.tokens,
        "recall_gain": _ends(ended.gain),
    }


def _ends(gain: Interval) -> list[float | None]:
    return [gain.mean, *(end if isfinite(end) else None for end in (gain.low, gain.high))]


def _write_summary(
    files: RunFolder, plan: Plan, trials: Sequence[Trial], verdict: Verdict, ended: Ended
) -> None:
    tested = {"seed": mean_of(ended.seed_found), "best": mean_of(ended.best_found)}
    gain, ends = ended.gain, _ends(ended.gain)
    versions = [verdict.incumbent, *([verdict.candidate] if verdict.accepted else [])]
    files.write_summary(
        {
            "schema": 1,
            "ended": "all settings that the budget buys were tried",
            "seed_policy": verdict.incumbent,
            "best_policy": ended.best.id,
            "versions": versions,
            "test": {},  # nobody answered anything
            "gain": None,
            "over_baselines": {},
            "budget": plan.budget,
            "spent": float(len(trials) * len(plan.parts.train) + plan.kept),
            "usage": {},
            "bound_usage": {},
            "evidence": {name: asdict(found) for name, found in tested.items()},
            "recall_gain": {"mean": ends[0], "low": ends[1], "high": ends[2], "clusters": gain.n},
            "limit": plan.limit,
            "trials": len(trials),
            "front": [asdict(trial) for trial in front(trials)],
        }
    )


def _close(trials: Sequence[Trial], ended: Ended, watch: Watch) -> None:
    found = {"seed": ended.seed_found, f"best {ended.best.short_id}": ended.best_found}
    watch.display.tables([front_table(front(trials)), retrieval_table("Test dialogues", found)])
    gain, seed, best = ended.gain, mean_of(ended.seed_found), mean_of(ended.best_found)
    watch.display.say(
        f"test dialogues: evidence recall seed {seed.recall:.3f} → best {best.recall:.3f}, "
        f"{gain.mean:+.3f} [{gain.low:.3f}, {gain.high:.3f}], n = {best.questions} questions of "
        f"{gain.n} dialogues; tokens shown {seed.tokens:.0f} → {best.tokens:.0f}"
    )
