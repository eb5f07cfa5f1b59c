"""Goes back to an older version of a run that has ended: journaled, and ``best.yaml`` anew.

The run's own events stay as they are, so it still replays to the same end; a rollback stands after
them. What was measured stays in ``summary.json``: nothing is measured anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evolve.folder import BEST, version_file
from evolve.journal import append_rollback, locked
from evolve.results.run_record import RunRecord
from policies.errors import RunFolderError
from policies.policy import Policy, read_policy, write_policy


def roll_back(record: RunRecord, version: Policy) -> None:
    """Put a version in force.

    Args:
        record: Of the run.
        version: One of its versions, its first best one included.

    Raises:
        UserError: The run has not ended, is in use, has no versions to choose among, or has this
            one in force.
    """
    if record.summary is None:
        raise RunFolderError(
            f"A run is rolled back when it has ended, but {record.folder} has no summary.json; go "
            f"on with python -m evolve.loop --resume {record.folder}"
        )
    if record.options.get("scope") == "user":
        raise RunFolderError(
            "A run is rolled back to one of its versions, but one of scope user has a policy for "
            f"each user and no versions; take the one that you want from {record.folder}/policies."
        )
    if version.id == record.best.id:
        raise RunFolderError(
            f"A rollback goes to another version than the one in force, but that is "
            f"{version.short_id} already; name another."
        )
    scores = _scores(record, version)
    with locked(record.folder):
        event = {"policy": version.id, "instead_of": record.best.id, "scores": scores}
        append_rollback(record.folder, event)
        write_policy(replace(version, scores=scores), record.folder / BEST)


def _scores(record: RunRecord, version: Policy) -> Mapping[str, object]:
    """What ``best.yaml`` says of a version: test users where it was scored there, else the gate."""
    summary: Mapping[str, Any] = record.summary or {}
    for name in ("best", "seed"):
        tested = summary.get("test", {}).get(name)
        if tested is not None and tested["policy"] == version.id:
            gain = summary["gain"] if name == "best" else None
            return {
                "split": "test",
                "model": record.models.model,
                "answers": tested["n"],
                "accuracy": tested["accuracy"],
                "memory": tested["memory"],
                "memory_gain": gain and [gain["memory"], gain["low"], gain["high"]],
            }
    kept = record.folder / version_file(version)
    return read_policy(kept).scores if kept.is_file() else {}
