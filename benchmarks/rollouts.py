"""Many policies lived through by many users, side by side, and what tables need of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from evolve.gym.rollout import Span, live
from evolve.gym.users import User
from evolve.workers import BoundTask, HereWorkers, ProcessWorkers, Workers, WorldSpec
from feedback.diagnosis import diagnose
from feedback.records import Diagnosis
from feedback.scores import tokens_per_answer
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Lived:
    """What is kept of one rollout.

    Attributes:
        diagnoses: One per answer.
        tokens: Per answer; 0 where only answers were asked.
        probed: Required states that were probed.
        probed_right: Those of them whose probe gave the true value.
    """

    diagnoses: tuple[Diagnosis, ...]
    tokens: float
    probed: int
    probed_right: int


@dataclass(frozen=True, slots=True)
class LivesTask:
    """One user's rollouts with many policies, so that what is read once is read for all.

    Attributes:
        spec: The world.
        policies: Each is lived through once; ``none`` only answers.
        user: Who lives.
    """

    spec: WorldSpec
    policies: tuple[Policy, ...]
    user: User

    def __call__(self) -> list[Lived]:
        """Live them."""
        return [self._live(policy) for policy in self.policies]

    def _live(self, policy: Policy) -> Lived:
        alone = policy.architecture == "none"
        rollout = live(policy, self.user, self.spec.build(), Span(answers_only=alone))
        if rollout.failure is not None:  # the offline model gives no reason for one
            raise RuntimeError(f"{policy.name} on {self.user.id}: {rollout.failure}")
        probes = [probe.right for answer in rollout.answers for probe in answer.probes]
        return Lived(
            diagnose(rollout, self.user.truth()),
            0.0 if alone else tokens_per_answer([rollout]),
            len(probes),
            sum(probes),
        )


@contextmanager
def workers(jobs: int) -> Iterator[Workers]:
    """So many processes, or this one alone."""
    if jobs == 1:
        yield HereWorkers()
        return
    with ProcessWorkers(jobs) as pool:
        yield pool


def live_all(
    policies: Mapping[str, Policy], users: Sequence[User], spec: WorldSpec, pool: Workers
) -> dict[str, list[Lived]]:
    """Every policy with every user; name to its rollouts in the users' order."""
    tasks = [LivesTask(spec, tuple(policies.values()), user) for user in users]
    by_policy = zip(*pool.run(tasks), strict=True)
    return {name: list(lived) for name, lived in zip(policies, by_policy, strict=True)}


def bound_all(
    users: Sequence[User], spec: WorldSpec, pool: Workers
) -> dict[tuple[str, int, int], float]:
    """The upper bounds of users."""
    bounds: dict[tuple[str, int, int], float] = {}
    for found, _ in pool.run([BoundTask(spec, user) for user in users]):
        bounds.update(found)
    return bounds


def pooled(lived: Sequence[Lived]) -> list[Diagnosis]:
    """All diagnoses of rollouts."""
    return [diagnosis for one in lived for diagnosis in one.diagnoses]
