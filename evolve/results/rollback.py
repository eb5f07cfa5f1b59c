"""Goes back to an older version of a run that has ended: journaled, and ``best.yaml`` anew.

The run's own events stay as they are, so it still replays to the same end; a rollback stands after
them. What was measured stays in ``summary.json``: nothing is measured anew. The journal decides:
where ``best.yaml`` does not hold what it says, as after a full disk, only the file is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolve.folder import BEST, version_file
from evolve.journal import append_rollback, locked
from evolve.results.run_record import RunRecord
from policies.errors import PolicyFileError, RunFolderError
from policies.files import write_whole
from policies.policy import Policy, policy_to_yaml, read_policy


def roll_back(record: RunRecord, version: Policy) -> None:
    """Put a version in force.

    Args:
        record: Of the run.
        version: One of its versions, its first best one included.

    Raises:
        UserError: The run has not ended, is in use, has no versions to choose among, or has this
            one in force and in its file, or the file cannot be written.
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
    again = version.id == record.best.id
    if again and _held(record) == version.id:
        others = ", ".join(one.short_id for one in record.versions if one.id != version.id)
        choice = f"name one of {others}" if others else "the run accepted no other"
        raise RunFolderError(
            f"A rollback puts another version in force, but {version.name} {version.short_id} is "
            f"in force already; {choice}."
        )
    scores = _scores(record, version)
    with locked(record.folder):
        if not again:
            event = {"policy": version.id, "instead_of": record.best.id, "scores": scores}
            append_rollback(record.folder, event)
        _write(replace(version, scores=scores), record.folder / BEST)


def _held(record: RunRecord) -> str | None:
    """Id of the policy that ``best.yaml`` holds; None where it cannot be read."""
    try:
        return read_policy(record.folder / BEST).id
    except PolicyFileError:
        return None


def _write(policy: Policy, path: Path) -> None:
    try:
        write_whole(path, policy_to_yaml(policy))
    except OSError as error:
        raise RunFolderError(
            f"A rollback writes {path.name} anew, but {path} cannot be ({error.strerror}), while "
            f"the journal has {policy.short_id} in force; mend that and give the same command "
            "again."
        ) from error


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
