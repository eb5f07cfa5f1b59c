"""What a run folder does not hold itself: its seed's file, its users, and who was scored where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolve.agents.own import declare_agent
from evolve.config import Options
from evolve.connecting import Cast
from evolve.environment import environment_digest, load_environment
from evolve.field import Field, possible_splits
from evolve.folder import SEED
from evolve.gym.users import User
from evolve.inputs import load_policy
from evolve.lm.models import ModelSpec
from evolve.prepare import Prepared
from evolve.results.journal_lines import Lines
from evolve.roles import OFFLINE
from policies.errors import EnvironmentFileError, PolicyFileError, RunFolderError
from policies.policy import Policy, read_policy


def find_seed(folder: Path, options: Options, header: Mapping[str, Any]) -> Policy:
    """The policy that a run began with: the folder's copy, or what its options name.

    Args:
        folder: Of the run.
        options: Of the run.
        header: Of its journal.

    Raises:
        RunFolderError: Neither is that policy.
        AgentError: The memory system of the run's own cannot be imported here.
    """
    wanted, copy = header["seed_policy"], folder / SEED
    if options.agent is not None:
        declare_agent(options.agent)  # what its policies may hold
    try:
        seed = read_policy(copy) if copy.is_file() else load_policy(options.policy)
        seed = options.constraints.fitted(seed)
    except PolicyFileError as error:
        raise _lost(folder, wanted, str(error)) from error
    if seed.id != wanted:
        raise _lost(folder, wanted, f"{options.policy} is now {seed.id}")
    return seed


def find_users(
    options: Options, header: Mapping[str, Any], *, traceable: bool
) -> tuple[User, ...] | None:
    """The users of a run; None where their file is gone or was changed since.

    Args:
        options: Of the run.
        header: Of its journal.
        traceable: Whether the run's rollouts can still be traced through their memory.
    """
    try:
        if environment_digest(options.env_path, options.probes) != header["environment"]:
            return None
        users = load_environment(options.env_path, options.probes).users
    except EnvironmentFileError:
        return None
    return users if traceable else tuple(_untraceable(user) for user in users)


def find_field(
    options: Options, users: tuple[User, ...], seed: Policy, lines: Lines
) -> Field | None:
    """Who is train, gate and test; None in scope user, and where no rollout has begun.

    Args:
        options: Of the run.
        users: Of its environment.
        seed: What it began with.
        lines: Its journal's.
    """
    if options.scope == "user" or not any(line.kind == "reserve" for line in lines.others):
        return None
    terms = dict(lines.of("terms"))
    rollouts = options.budget if isinstance(options.budget, int) else None
    if "budget" in terms:
        rollouts = terms["budget"]["rollouts"]
    if rollouts is None:
        return None
    nobody = ModelSpec(OFFLINE)  # a plan calls no model
    splits = tuple(possible_splits(users, options.holdout, options.seed))
    cast = Cast(nobody, nobody, nobody)
    return Prepared(options, users, seed, cast, splits, "").plan(rollouts)[0]


def _untraceable(user: User) -> User:
    """A user of whose sessions nobody knows what they reveal."""
    periods = (
        replace(period, sessions=tuple(replace(one, exposed=None) for one in period.sessions))
        for period in user.periods
    )
    return replace(user, periods=tuple(periods))


def _lost(folder: Path, wanted: str, found: str) -> RunFolderError:
    return RunFolderError(
        f"A run is read with the seed policy that it began with, {wanted}, but neither is it in "
        f"{folder / SEED} nor where its options name it ({found}); put its file there."
    )
