"""A policy of a run by what people call it: a word, its candidate's name, a user, or its id."""

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
        name: ``best`` (in force), ``seed``, a candidate's name such as ``gen-001.0`` or that of its
            policy, a user whose own policy is meant, or the first digits of an id, at least four.

    Raises:
        RunFolderError: None is called so, or several.
    """
    if name in record.own:
        return record.own[name]
    return _found(record, name, record.policies.values(), "policy")


def find_version(record: RunRecord, name: str) -> Policy:
    """The seed or an accepted version, by word, candidate or id as in ``find_policy``."""
    return _found(record, name, record.versions, "version")


def _found(record: RunRecord, name: str, policies: Iterable[Policy], what: str) -> Policy:
    words = {"best": record.best, "seed": record.seed}
    if name in words:
        return words[name]
    named = {one.policy.id for one in record.candidates if name in (one.name, one.policy.name)}
    found = {
        policy.id: policy
        for policy in policies
        if policy.id in named or (len(name) >= FEWEST_DIGITS and policy.id.startswith(name))
    }
    if len(found) == 1:
        return next(iter(found.values()))
    versions = ", ".join(dict.fromkeys(version.short_id for version in record.versions))
    raise RunFolderError(
        f"A {what} is named best, seed, by its candidate such as gen-001.0, or by the first "
        f"{FEWEST_DIGITS} or more digits of its id, but in {record.folder} {name!r} names "
        f"{len(found) or 'none'}; its versions are {versions}."
    )
