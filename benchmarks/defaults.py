"""How the seed policy does with every setting at its default, on the test users of a run."""

from __future__ import annotations

from evolve.config import Options
from evolve.finish import Outcome
from evolve.gains import memory_gain
from evolve.gym.bounds import Bounds
from evolve.gym.rollout import Span
from evolve.gym.users import load_users
from evolve.lm.models import ModelSpec
from evolve.workers import BoundTask, LiveTask, WorldSpec
from feedback.diagnosis import diagnose
from feedback.records import Diagnosis
from feedback.scores import score
from policies.policy import Policy, make_policy


def at_defaults(policy: Policy) -> Policy | None:
    """The policy with all settings at their defaults; None where they are so already."""
    made = make_policy(policy.architecture, policy.texts, {}, name=f"{policy.name}-defaults")
    return None if made.id == policy.id else made


def over_defaults(outcome: Outcome, options: Options) -> tuple[float | None, float | None]:
    """What the seed at default settings scores on a run's test users, and what best has over it.

    The users live through it in the run's own world, all of their periods, outside its budget.

    Returns:
        Memory score of the seed at default settings, and best less that; both None where the seed
        has the default settings.

    Raises:
        ValueError: It failed on every user.
    """
    policy = at_defaults(outcome.tested["seed"].policy)
    if policy is None:
        return None, None
    model = ModelSpec(options.models.model)
    spec = WorldSpec(model, model, options.seed, options.first_rounds, options.later_rounds)
    best = outcome.tested["best"].diagnoses
    tested = {d.user for d in best}
    found: list[Diagnosis] = []
    bounds: Bounds = {}
    for user in load_users(options.env_path):
        if user.id in tested:
            bounds |= BoundTask(spec, user)()[0]
            rollout = LiveTask(spec, policy, user, Span())()
            found += diagnose(rollout, user.truth()) if rollout.failure is None else ()
    gain = memory_gain(found, best, bounds, lambda d: d.user, options.seed)
    return score(found, bounds).memory, None if gain is None else gain.mean
