"""A policy of a run by what people call it: ``best``, ``seed``, or the beginning of its id."""

from __future__ import annotations

from collections.abc import Iterable

from evolve.results.run_record import RunRecord
from policies.errors import RunFolderError
from policies.policy import Policy

FEWEST_DIGITS = 4


def find_policy(record: RunRecord, name: str) -> Policy:
    """Any policy that the run knows.

    Args:
        record: Of the run.
        name: ``best`` (in force), ``seed``, or the first digits of an id, at least four.

    Raises:
        RunFolderError: None is called so, or several.
    """
    return _found(record, name, record.policies.values(), "policy")


def find_version(record: RunRecord, name: str) -> Policy:
    """The seed or an accepted version; otherwise as ``find_policy``."""
    return _found(record, name, record.versions, "version")


def _found(record: RunRecord, name: str, policies: Iterable[Policy], what: str) -> Policy:
    named = {"best": record.best, "seed": record.seed}
    if name in named:
        return named[name]
    found = {policy.id: policy for policy in policies if policy.id.startswith(name)}
    if len(found) == 1 and len(name) >= FEWEST_DIGITS:
        return next(iter(found.values()))
    versions = ", ".join(version.short_id for version in record.versions)
    raise RunFolderError(
        f"A {what} is named best, seed, or by the first {FEWEST_DIGITS} or more digits of its id, "
        f"but of those of {record.folder} {name!r} names {len(found) or 'none'}; its versions are "
        f"{versions}."
    )
