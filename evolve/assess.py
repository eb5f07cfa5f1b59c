"""Scores policies on users as they are: no budget, no journal, nothing evolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evolve.gains import Lead, accuracy_gain, leads, memory_gain
from evolve.gym.bounds import Bounds
from evolve.gym.rollout import Span
from evolve.gym.users import User
from evolve.lm.meter import add_usage
from evolve.stats import Interval
from evolve.workers import BoundTask, LiveTask, Workers, WorldSpec
from feedback.diagnosis import diagnose
from feedback.records import Diagnosis, Rollout, Usage
from feedback.scores import Scores, score, scores_by_period, tokens_per_answer
from policies.errors import AllFailedError
from policies.policy import Policy, seed_policy


@dataclass(frozen=True, slots=True)
class Assessed:
    """How one policy did.

    Attributes:
        policy: The policy.
        total: All answers pooled.
        periods: By period, pooled over users.
        tokens: Per answer; None for ``none``, which is scored by its answers alone.
        memory_tokens: Mean size of live memory at the end of each period, in tokens.
        usage: What all its rollouts spent, by role, failed ones included.
    """

    policy: Policy
    total: Scores
    periods: Mapping[int, Scores]
    tokens: float | None
    memory_tokens: tuple[float, ...]
    usage: tuple[tuple[str, Usage], ...]


@dataclass(frozen=True, slots=True)
class Assessment:
    """How policies did on the same users.

    Attributes:
        assessed: One per policy, in the order in which they were given.
        users: Number of users on whom all of them were scored.
        memory: Memory score of the first less that of the second, with its interval over users;
            None for a single policy, or where it is undefined.
        accuracy: The same in accuracy.
        bound_usage: What the upper bounds cost.
        failures: Rollouts that failed; their users are left out for all policies.
        beside: The baselines that the memory gain is measured over; empty where it is not.
        gains: Name of a baseline to how far the first policy is ahead of it.
    """

    assessed: tuple[Assessed, ...]
    users: int
    memory: Interval | None
    accuracy: Interval | None
    bound_usage: tuple[tuple[str, Usage], ...]
    failures: tuple[Rollout, ...]
    beside: tuple[Assessed, ...] = ()
    gains: Mapping[str, Lead] = field(default_factory=dict)


def assess(
    policies: Sequence[Policy],
    users: Sequence[User],
    spec: WorldSpec,
    workers: Workers,
    baselines: Sequence[str] = (),
) -> Assessment:
    """Let policies live through the same users and compare the first with the second.

    Args:
        policies: One or two; equal ones are lived once.
        users: At least one.
        spec: The world.
        workers: Run the rollouts.
        baselines: Names of seed policies that the first policy's memory gain is measured over; it
            has none over itself.

    Raises:
        AllFailedError: On every user some policy failed.
    """
    seeds = {name: seed_policy(name) for name in baselines}
    others = {name: seed for name, seed in seeds.items() if seed.id != policies[0].id}
    rollouts = _live((*policies, *others.values()), users, spec, workers)
    failures = tuple(r for lived in rollouts.values() for r in lived if r.failure is not None)
    failed = {rollout.user for rollout in failures}
    whole = [user for user in users if user.id not in failed]
    if not whole:
        raise AllFailedError(
            "Scores need a user on whom no rollout failed, but all failed, the first for this "
            f"reason: {failures[0].failure}; mend it and evaluate again."
        )
    bounds, bound_usage = _bounds(whole, spec, workers)
    diagnoses = _diagnosed(rollouts, whole)
    mine, *against = (diagnoses[policy.id] for policy in policies)
    beside = {name: diagnoses[policy.id] for name, policy in others.items()}

    def assessed(policy: Policy) -> Assessed:
        return _assessed(policy, rollouts[policy.id], diagnoses[policy.id], bounds)

    return Assessment(
        assessed=tuple(map(assessed, policies)),
        users=len(whole),
        memory=memory_gain(against[0], mine, bounds, _user_of, spec.seed) if against else None,
        accuracy=accuracy_gain(against[0], mine, _user_of, spec.seed) if against else None,
        bound_usage=bound_usage,
        failures=failures,
        beside=tuple(map(assessed, others.values())),
        gains=leads(mine, beside, bounds, _user_of, spec.seed),
    )


def _diagnosed(
    rollouts: Mapping[str, Sequence[Rollout]], users: Sequence[User]
) -> dict[str, list[Diagnosis]]:
    """Id of each policy to what is said of its answers to these users."""
    truths = {user.id: user.truth() for user in users}
    return {
        policy: [d for r in lived if r.user in truths for d in diagnose(r, truths[r.user])]
        for policy, lived in rollouts.items()
    }


def _live(
    policies: Sequence[Policy], users: Sequence[User], spec: WorldSpec, workers: Workers
) -> dict[str, list[Rollout]]:
    """Rollouts of each policy, by its id, in the order of users."""
    unique = {policy.id: policy for policy in policies}
    tasks = [
        LiveTask(spec, policy, user, Span(answers_only=policy.architecture == "none"))
        for policy in unique.values()
        for user in users
    ]
    lived: dict[str, list[Rollout]] = {}
    for task, rollout in zip(tasks, workers.run(tasks), strict=True):
        lived.setdefault(task.policy.id, []).append(rollout)
    return lived


def _bounds(
    users: Sequence[User], spec: WorldSpec, workers: Workers
) -> tuple[Bounds, tuple[tuple[str, Usage], ...]]:
    bounds: Bounds = {}
    usage: tuple[tuple[str, Usage], ...] = ()
    for found, spent in workers.run([BoundTask(spec, user) for user in users]):
        bounds |= found
        usage = add_usage(usage, spent)
    return bounds, usage


def _assessed(
    policy: Policy, rollouts: Sequence[Rollout], diagnoses: Sequence[Diagnosis], bounds: Bounds
) -> Assessed:
    scored = {diagnosis.user for diagnosis in diagnoses}
    counted = [rollout for rollout in rollouts if rollout.user in scored]
    usage: tuple[tuple[str, Usage], ...] = ()
    for rollout in rollouts:
        usage = add_usage(usage, rollout.usage)
    return Assessed(
        policy=policy,
        total=score(diagnoses, bounds),
        periods=scores_by_period(diagnoses, bounds),
        tokens=None if policy.architecture == "none" else tokens_per_answer(counted),
        memory_tokens=_memory_tokens(counted),
        usage=usage,
    )


def _memory_tokens(rollouts: Sequence[Rollout]) -> tuple[float, ...]:
    longest = max(len(rollout.memory_tokens) for rollout in rollouts)
    sizes = [
        [r.memory_tokens[p] for r in rollouts if len(r.memory_tokens) > p] for p in range(longest)
    ]
    return tuple(sum(size) / len(size) for size in sizes)


def _user_of(diagnosis: Diagnosis) -> str:
    return diagnosis.user
