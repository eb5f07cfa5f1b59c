"""What differs between two runs, two versions, or two policy files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolve.inputs import read_policy_file
from evolve.results.evidence_search import found_table
from evolve.results.run_record import RunRecord, find_run, read_run
from evolve.results.versions import find_policy
from evolve.tables import Table, number, option_text
from policies.difference import diff_policies
from policies.errors import PolicyFileError, RunFolderError
from policies.policy import Policy, seed_policy

_SCORES = ("n", "accuracy", "write", "read", "utilization", "format", "memory")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two.

    Attributes:
        name: As it was given.
        policy: What is compared.
        record: Of its run; None for a policy file and a seed.
    """

    name: str
    policy: Policy
    record: RunRecord | None

    @property
    def options(self) -> Mapping[str, Any]:
        """Of its run; else empty."""
        return {} if self.record is None else self.record.options

    @property
    def tested(self) -> Mapping[str, Any] | None:
        """What its run's summary says of it on test users."""
        summary = {} if self.record is None else self.record.summary or {}
        scores = summary.get("test", {}).values()
        return next((one for one in scores if one["policy"] == self.policy.id), None)

    @property
    def found(self) -> Mapping[str, Any] | None:
        """What its run's summary says that it finds in test dialogues."""
        summary = {} if self.record is None else self.record.summary or {}
        evidence: Mapping[str, Any] = summary.get("evidence", {})
        known = {summary[f"{name}_policy"]: one for name, one in evidence.items()}
        return known.get(self.policy.id)


def find_side(name: str, runs: Path) -> Side:
    """What is meant by a name.

    Args:
        name: A run, then its best policy is meant; ``RUN:VERSION``; a policy file; or a seed
            policy, where no run is called so.
        runs: Where runs are.

    Raises:
        UserError: It is nothing of these, or cannot be read.
    """
    if name.endswith((".yaml", ".yml")):
        return Side(name, read_policy_file(Path(name)), None)
    try:
        folder, version = find_run(name, runs), "best"
    except RunFolderError:
        seed = _seed(name)
        if seed is not None:
            return Side(name, seed, None)
        if os.path.isfile(name):
            raise PolicyFileError(
                f"{name}: what is compared is a run, a version of it (RUN:VERSION), a policy file "
                "(.yaml) or a seed, but this is another file; python -m evolve.import_policy makes "
                "a policy of a prompt or a configuration."
            ) from None
        run, colon, version = name.rpartition(":")
        if not colon:
            raise
        folder = find_run(run, runs)
    record = read_run(folder)
    return Side(name, find_policy(record, version), record)


def _seed(name: str) -> Policy | None:
    try:
        return seed_policy(name)
    except PolicyFileError:
        return None


def difference(a: Side, b: Side) -> tuple[list[Table], str]:
    """As tables without empty ones, and the policies' difference as text."""
    options = tuple(
        (name, _shown(a.options, name), _shown(b.options, name))
        for name in _different(a.options, b.options)
    )
    tested = tuple(_test_row(side) for side in (a, b) if side.tested is not None)
    tables = (
        Table("Options that differ", ("option", a.name, b.name), options),
        Table(
            "Test users" + _unpaired(a, b),
            ("policy", "answers", *_SCORES[1:], "tokens/answer"),
            tested,
        ),
        _evidence(a, b),
    )
    text = diff_policies(a.policy, b.policy)
    same = f"{a.policy.short_id} and {b.policy.short_id} are the same policy\n"
    return [table for table in tables if table.rows], text or same


def without_figures(a: Side, b: Side) -> str:
    """A sentence about the sides that no run has scored; empty where each has figures."""
    names = [side.name for side in (a, b) if side.tested is None and side.found is None]
    if not names:
        return ""
    return (
        f"No test figures of {' and '.join(names)}: a run scores its seed and best policy at its "
        "end; python -m evolve.eval scores any."
    )


def to_json(a: Side, b: Side) -> str:
    """The same as JSON, not rounded."""
    content = {
        "schema": 1,
        "policies": [side.policy.id for side in (a, b)],
        "options": {
            name: [side.options.get(name) for side in (a, b)]
            for name in _different(a.options, b.options)
        },
        "test": [side.tested for side in (a, b)],
        "evidence": [side.found for side in (a, b)],
        "difference": diff_policies(a.policy, b.policy),
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _different(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    if not a or not b:  # a policy file or a seed has none to compare
        return []
    return [name for name in dict.fromkeys([*a, *b]) if a.get(name) != b.get(name)]


def _shown(options: Mapping[str, Any], name: str) -> str:
    value = options.get(name)
    return "-" if value is None else option_text(value)


def _test_row(side: Side) -> tuple[str, ...]:
    scores = side.tested or {}
    return (
        _called(side),
        str(scores["n"]),
        *(number(scores[rate], 3) for rate in _SCORES[1:]),
        number(scores["tokens_per_answer"], 0),
    )


def _evidence(a: Side, b: Side) -> Table:
    """Of runs that searched settings by evidence; env and seed settle their test dialogues."""
    found = {_called(side): side.found for side in (a, b) if side.found is not None}
    title = "Test dialogues"
    if len(found) > 1 and {"env", "seed"} & set(_different(a.options, b.options)):
        title += " (not the same ones: python -m evolve.eval compares them fairly)"
    return found_table(title, found)


def _called(side: Side) -> str:
    return f"{side.name} {side.policy.short_id}"


def _unpaired(a: Side, b: Side) -> str:
    """A word of warning where the two were not scored on the same users."""
    same = {"env", "holdout", "seed", "first_rounds", "later_rounds", "model", "user_model"}
    both = a.tested is not None and b.tested is not None
    if both and same & set(_different(a.options, b.options)):
        return " (not the same users, rounds or model: python -m evolve.eval compares them fairly)"
    return ""
