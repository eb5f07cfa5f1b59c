"""Finds the policy that is to be exported: a file, or a version of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evolve.agents.own import declare_agent
from evolve.config import SAMPLE
from evolve.exporting.origin import Origin, find_origin, options_of
from evolve.inputs import read_policy_file
from evolve.results.run_record import RunRecord, find_run, read_run
from evolve.results.versions import find_policy
from policies.declared import declared
from policies.errors import ExportError
from policies.policy import Policy, read_policy


@dataclass(frozen=True, slots=True)
class Source:
    """A policy to export.

    Attributes:
        policy: The policy.
        origin: What it was tuned to.
        named: What names it to other commands: a file, or a seed.
        rejected: Why the run did not accept it; None where it did, or no run judged it.
        scored_by: Arguments of ``evolve.eval`` that name whom its run heard, and its class where
            it is of a memory system of one's own.
    """

    policy: Policy
    origin: Origin
    named: str
    rejected: str | None = None
    scored_by: tuple[str, ...] = ()


def find_source(name: str, version: str | None, agent: str | None = None) -> Source:
    """The policy that is meant.

    Args:
        name: A policy file, the folder of a run, its name, or ``latest``.
        version: ``best``, ``seed``, an id or its first digits, the name of a candidate, or in scope
            ``user`` that of a user; None for the best.
        agent: The memory system of one's own that a policy file is of.

    Raises:
        UserError: There is no such file, run or version.
    """
    if agent is not None:
        declare_agent(agent)
    path = Path(name)
    if path.suffix in {".yaml", ".yml"} or os.path.isfile(path):
        if version is not None:
            raise ExportError(
                f"--policy names a version of a run, but {name} is a policy file; leave one of the "
                "two out."
            )
        policy = read_policy_file(path)
        scored_by = _scored_by(policy, options_of(policy, path))
        return Source(policy, find_origin(policy, path), name, scored_by=scored_by)
    record = read_run(find_run(name))
    policy = _version(record, version)
    origin, named = find_origin(policy, record.folder), _named(record, policy)
    rejected, scored_by = _rejected(record, policy), _scored_by(policy, record.options)
    return Source(policy, origin, named, rejected, scored_by)


def _rejected(record: RunRecord, policy: Policy) -> str | None:
    """Why a run did not accept a policy; None of a version, though a rewrite came to the same."""
    verdicts = [one.verdict for one in record.candidates if one.policy.id == policy.id]
    in_use = {one.id for one in (*record.versions, *record.own.values())}
    if policy.id in in_use or not verdicts or any(verdict.accepted for verdict in verdicts):
        return None
    return verdicts[-1].reason


def _scored_by(policy: Policy, options: Mapping[str, object]) -> tuple[str, ...]:
    """Arguments that name the class of a policy, and the environment of its run."""
    given = {
        "--agent": policy.architecture if declared(policy.architecture) else None,
        "--env": None if options.get("env") == SAMPLE else options.get("env"),
        "--probes": options.get("probes"),
    }
    return tuple(
        word for key, value in given.items() if value is not None for word in (key, str(value))
    )


def _version(record: RunRecord, version: str | None) -> Policy:
    """The policy of a run that a version names."""
    if version is None and record.own:
        raise ExportError(
            f"Run {record.name} has a policy for each user, but --policy names none; name a user: "
            f"{', '.join(record.own)}."
        )
    return find_policy(record, "best" if version is None else version)


def _named(record: RunRecord, policy: Policy) -> str:
    """The file of a version in its run folder; of the seed, what the run was told."""
    files = [record.folder / "best.yaml"]
    for place in ("policies", "candidates"):
        files += sorted((record.folder / place).glob(f"*-{policy.short_id}.yaml"))
    for file in files:
        if file.is_file() and read_policy(file).id == policy.id:
            return str(file)
    return str(record.options.get("policy", policy.architecture))
