"""The end of a run: test users, scored once, and the summary in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

from evolve.evaluate import Evaluator, Job, Scored
from evolve.field import Field
from evolve.gains import Bounds, Lead, leads, memory_gain, shown_gain
from evolve.gym.rollout import Span
from evolve.gym.users import User
from evolve.optimize.archive import Archive, shrinkage
from evolve.plan import Plan
from evolve.stats import Interval
from feedback.records import Diagnosis
from feedback.scores import Scores, score, tokens_per_answer
from policies.errors import BudgetExhaustedError
from policies.policy import Policy, seed_policy


@dataclass(frozen=True, slots=True)
class Tested:
    """One policy on the test users.

    Attributes:
        policy: The policy.
        diagnoses: Of the answers that count for the report.
        scores: Pooled over answers.
        tokens: Per answer; None for ``none``, which is scored by its answers alone.
    """

    policy: Policy
    diagnoses: tuple[Diagnosis, ...]
    scores: Scores
    tokens: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found.

    Attributes:
        tested: ``seed``, ``best``, ``native`` and ``none`` to how they did on test users, without
            those of which every rollout failed.
        gain: Memory score of best less that of seed on test users, with its interval over
            clusters; None where it is undefined, or the seed is the best.
        shrinkage: Share of the gain at the gate that is missing on test users, in accuracy.
        failure: Why seed or best could not be compared, where all rollouts of one failed.
        cut: Whether the budget ended before all was scored.
        leads: ``none`` and ``native`` to how far best is ahead of them; a native seed stands for
            ``native``, and what is the best itself is left out.
    """

    tested: Mapping[str, Tested]
    gain: Interval | None
    shrinkage: float | None
    failure: str | None = None
    cut: bool = False
    leads: Mapping[str, Lead] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The run's last word."""
        cut = self.cut and {"seed", "best"} <= self.tested.keys()
        ended = "; the budget ended before all of them were scored" if cut else ""
        return f"{self._found}{ended}"

    @property
    def _found(self) -> str:
        if self.failure is not None:
            return (
                f"test users: seed and best cannot be compared, all rollouts of one failed: "
                f"{self.failure}"
            )
        if not self.tested:
            return "test users: the budget ended before any of them was scored"
        if not {"seed", "best"} <= self.tested.keys():
            return (
                "test users: seed and best cannot be compared, the budget ended before both of "
                "them were scored"
            )
        seed, best = self.tested["seed"].scores, self.tested["best"].scores
        users = len({d.user for d in self.tested["best"].diagnoses})
        people = f"n = {best.n} answers of {users} user{'s' * (users != 1)}"
        if self.tested["seed"].policy.id == self.tested["best"].policy.id:
            return f"test users: the seed stays, memory score {_shown(seed.memory)}, {people}"
        return (
            f"test users: memory score seed {_shown(seed.memory)} → best {_shown(best.memory)}, "
            f"{shown_gain(self.gain)}, {people}"
        )


def finish(evaluator: Evaluator, field: Field, plan: Plan, archive: Archive, seed: int) -> Outcome:
    """Score seed, best, native and none on the test users, from what was set aside.

    Each question has a probe of its own, whatever the run saved on candidates.

    Args:
        evaluator: Pays and scores.
        field: Which answers count.
        plan: Which test users the budget serves.
        archive: Accepted versions.
        seed: Of the run.
    """
    evaluator.ledger.open_set_aside()
    policies = {
        "seed": archive.versions[0].policy,
        "best": archive.best().policy,
        "native": seed_policy("native"),
        "none": seed_policy("none"),
    }
    if policies["seed"].architecture == "native":
        del policies["native"]
    jobs = {
        name: [Job(p, u, Span(answers_only=name == "none"), single=True) for u in plan.test]
        for name, p in policies.items()
    }
    every = [job for group in jobs.values() for job in group]
    bounds, cut = _score_all(evaluator, every, plan.test)
    bounded = {user for user, _, _ in bounds}
    tested: dict[str, Tested] = {}
    failures: list[str | None] = []
    for name, group in jobs.items():
        scored = [s for s in _known(evaluator, group) if s.rollout.user in bounded]
        diagnoses = tuple(field.select((d for s in scored for d in s.diagnoses), "test"))
        if diagnoses:
            lived = [s.rollout for s in scored if s.rollout.failure is None]
            tokens = None if name == "none" else tokens_per_answer(lived)
            tested[name] = Tested(policies[name], diagnoses, score(diagnoses, bounds), tokens)
        elif name in {"seed", "best"}:
            failures += [scored[0].rollout.failure] if scored else []
    if not {"seed", "best"} <= tested.keys():
        return Outcome(tested, None, None, failures[0] if failures else None, cut)
    seeds, bests = tested["seed"].diagnoses, tested["best"].diagnoses
    gain = None
    if policies["seed"].id != policies["best"].id:
        gain = memory_gain(seeds, bests, bounds, field.cluster_of, seed)
    ahead = leads(bests, _baselines(tested), bounds, field.cluster_of, seed)
    return Outcome(tested, gain, _shrinkage(archive, tested), cut=cut, leads=ahead)


def _baselines(tested: Mapping[str, Tested]) -> dict[str, tuple[Diagnosis, ...]]:
    """Answers of ``none`` and ``native``, without what is the best policy itself."""
    best, seed = tested["best"].policy, tested["seed"]
    known = {name: tested[name] for name in ("none", "native") if name in tested}
    if seed.policy.architecture == "native":
        known["native"] = seed
    return {name: one.diagnoses for name, one in known.items() if one.policy.id != best.id}


def _score_all(
    evaluator: Evaluator, jobs: Sequence[Job], users: Sequence[User]
) -> tuple[Bounds, bool]:
    """Score jobs and users' upper bounds as far as it goes; the bounds, and whether it was cut."""
    cut = False
    try:
        evaluator.score(jobs)
    except BudgetExhaustedError:  # not in rollouts: of those all was set aside
        cut = True
    try:
        return evaluator.bounds(users), cut
    except BudgetExhaustedError:
        return evaluator.bounds(()), True


def _known(evaluator: Evaluator, jobs: Sequence[Job]) -> list[Scored]:
    """What is known of one policy's jobs, which are of one span."""
    span = jobs[0].span
    return evaluator.known(jobs[0].policy, [job.user for job in jobs], lambda _: span)


def summarize(
    outcome: Outcome, archive: Archive, evaluator: Evaluator, plan: Plan, reason: str
) -> dict[str, Any]:
    """The run in numbers, for ``summary.json``; no times, so equal runs give equal bytes."""
    gain = outcome.gain
    return {
        "schema": 1,
        "ended": reason,
        "seed_policy": archive.versions[0].policy.id,
        "best_policy": archive.best().policy.id,
        "versions": [version.policy.id for version in archive.versions],
        "test": {name: _scores_data(tested) for name, tested in outcome.tested.items()},
        "gain": None if gain is None else {"memory": gain.mean, **_ends(gain)},
        "over_baselines": {name: _lead_data(lead) for name, lead in outcome.leads.items()},
        "gate_gain": archive.gate_gain(),
        "shrinkage": outcome.shrinkage,
        "budget": plan.budget,
        "spent": float(evaluator.ledger.spent),
        "rollouts": evaluator.rollouts,
        "usage": {role: asdict(usage) for role, usage in evaluator.usage},
        "bound_usage": {role: asdict(usage) for role, usage in evaluator.bound_usage},
    }


def _ends(interval: Interval) -> dict[str, Any]:
    """The ends of an interval, None where they are infinite, and how much it rests on."""
    return {
        "low": interval.low if isfinite(interval.low) else None,
        "high": interval.high if isfinite(interval.high) else None,
        "clusters": interval.n,
    }


def _lead_data(lead: Lead) -> dict[str, Any]:
    return {
        measure: None if found is None else {"mean": found.mean, **_ends(found)}
        for measure, found in (("memory", lead.memory), ("accuracy", lead.accuracy))
    }


def _scores_data(tested: Tested) -> dict[str, Any]:
    return {
        **asdict(tested.scores),
        "trace": {stage.value: share for stage, share in tested.scores.trace.items()},
        "policy": tested.policy.id,
        "tokens_per_answer": tested.tokens,
    }


def _shrinkage(archive: Archive, tested: Mapping[str, Tested]) -> float | None:
    if archive.best() is archive.versions[0]:
        return None
    return shrinkage(
        archive.gate_gain(), tested["best"].scores.accuracy - tested["seed"].scores.accuracy
    )


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
