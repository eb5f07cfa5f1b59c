"""The runs of a folder at a glance, from headers and summaries: no journal is read over."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from evolve.folder import BEST
from evolve.journal import FILE, REDACTED, read_header
from evolve.results.evidence_search import MODELS, STRATEGY, is_evidence_search
from evolve.results.run_record import run_folders
from evolve.results.summary import read_summary
from evolve.tables import Table, number, option_text
from policies.errors import UserError

_ID = re.compile(r"^id: '?([0-9a-f]{8})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Glance:
    """One run at a glance.

    Attributes:
        name: Of its folder.
        state: ``ended``, ``unfinished``, ``redacted``, or ``unreadable`` with the reason.
        changed: When its journal was last written, in local time, to the second.
        options: As its header has them; empty where it cannot be read.
        best: Short id of the policy in force; None before the end, and in scope ``user``.
        found: Short id of the policy that it found, which a rollback leaves as it is; else as
            ``best``.
        versions: How many it accepted, the seed not counted; None before the end.
        spent: Rollouts; None before the end.
        memory: Memory score of the seed and of what the run found; None where undefined.
        gain: The difference with its interval; None where there is none.
        searched: Whether settings were searched by evidence, without a model.
        recall: Evidence recall of the seed and of what such a search found.
        recall_gain: The difference with its interval.
    """

    name: str
    state: str
    changed: str
    options: Mapping[str, Any]
    best: str | None = None
    found: str | None = None
    versions: int | None = None
    spent: float | None = None
    memory: tuple[float | None, float | None] = (None, None)
    gain: Mapping[str, Any] | None = None
    searched: bool = False
    recall: tuple[float | None, float | None] = (None, None)
    recall_gain: Mapping[str, Any] | None = None

    @property
    def shown_state(self) -> str:
        """The state, and what the run was rolled back to."""
        if self.state != "ended" or self.best == self.found:
            return self.state
        return f"{self.state}, rolled back to {self.best}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "name": self.name,
            "state": self.state,
            "changed": self.changed,
            "options": dict(self.options),
            "best": self.best,
            "found": self.found,
            "versions": self.versions,
            "spent": self.spent,
            "memory": dict(zip(("seed", "best"), self.memory, strict=True)),
            "gain": self.gain,
            "evidence_search": self.searched,
            "recall": dict(zip(("seed", "best"), self.recall, strict=True)),
            "recall_gain": self.recall_gain,
        }


def list_runs(runs: Path) -> list[Glance]:
    """Every run in a folder, the one that changed last at the end."""
    return [glance_at(folder) for folder in run_folders(runs)]


def glance_at(folder: Path) -> Glance:
    """One run; one that cannot be read says why."""
    written = datetime.fromtimestamp(int((folder / FILE).stat().st_mtime)).isoformat(" ")
    try:
        header, summary, best = read_header(folder), read_summary(folder), _best(folder / BEST)
    except UserError as error:
        return Glance(folder.name, f"unreadable: {error}", written, {})
    state = "unfinished" if summary is None else "ended"
    if header.get(REDACTED):
        state = "redacted"
    found = _found(summary or {}) | {"searched": is_evidence_search(folder)}
    return Glance(folder.name, state, written, header["options"], best, **found)


def _best(path: Path) -> str | None:
    """Short id of the policy in a file, which is not checked: there may be no class for it here."""
    try:
        found = _ID.search(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return None if found is None else found[1]


def _found(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What a summary says, by the names of ``Glance``."""
    if summary.get("scope") == "user":
        total = summary["periods"]["all"]
        memory = total["fixed"]["memory"], total["learned"]["memory"]
    else:
        tested = summary.get("test", {})
        first, last = (tested.get(name, {}).get("memory") for name in ("seed", "best"))
        memory = first, last
    versions, evidence = summary.get("versions"), summary.get("evidence", {})
    best = summary.get("best_policy")
    return {
        "found": None if best is None else best[:8],
        "versions": None if versions is None else len(versions) - 1,
        "spent": summary.get("spent"),
        "memory": memory,
        "gain": summary.get("gain"),
        "recall": tuple(evidence.get(name, {}).get("recall") for name in ("seed", "best")),
        "recall_gain": summary.get("recall_gain"),
    }


def listing(glances: Sequence[Glance], runs: Path) -> list[Table]:
    """Runs as a table, and a table of those that cannot be read; empty ones are left out."""
    readable = [one for one in glances if one.options]
    rows = tuple(_row(one) for one in readable)
    columns = (
        "run",
        "state",
        "strategy",
        "policy",
        "model",
        "spent of budget",
        "accepted",
        "score",
        "gain",
        "changed",
    )
    broken = tuple((one.name, one.state) for one in glances if not one.options)
    tables = (
        Table(f"Runs in {runs}, the one that changed last at the end", columns, rows),
        Table("Runs that cannot be read", ("run", "why"), broken, left=2),
    )
    return [table for table in tables if table.rows]


def _row(one: Glance) -> tuple[str, ...]:
    options = one.options
    scores, gain = ("memory", one.memory), shown_gain(one.gain)
    if one.searched:
        scores, gain = ("recall", one.recall), shown_gain(one.recall_gain, "mean")
    return (
        one.name,
        one.shown_state,
        STRATEGY if one.searched else options["strategy"],
        options["policy"],
        MODELS if one.searched else options["model"],
        f"{number(one.spent, 1)} of {option_text(options['budget'])}",
        "-" if one.versions is None else str(one.versions),
        f"{scores[0]} {' → '.join(number(score, 2) for score in scores[1])}",
        gain,
        one.changed,
    )


def shown_gain(gain: Mapping[str, Any] | None, mean: str = "memory") -> str:
    """A gain of a summary with its interval: ``+0.29 [0.20, 0.37]``.

    Args:
        gain: As the summary has it; None where there is none.
        mean: Under which key its estimate stands.
    """
    if gain is None:
        return "-"
    low, high = (number(gain[name], 2) for name in ("low", "high"))
    return f"{gain[mean]:+.2f} [{low}, {high}]"


def to_json(glances: Sequence[Glance]) -> str:
    """The same as JSON, not rounded."""
    content = {"schema": 1, "runs": [one.as_dict() for one in glances]}
    return json.dumps(content, indent=1, ensure_ascii=False)
