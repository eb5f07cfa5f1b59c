"""Several runs side by side: what each found on its test users, and their best versions, paired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.gains import accuracy_gain, memory_gain
from evolve.journal import FILE
from evolve.results.curves import shared_answers
from evolve.results.run_record import RunRecord, diagnoses, read_run
from policies.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

POLICIES = ("seed", "best", "native", "none")
"""What runs score on test users."""


def read_beside(folder: Path, most: int = 12) -> tuple[list[RunRecord], list[str]]:
    """A run and those that lie beside it, the one that changed last first.

    Args:
        folder: Of the run.
        most: At most so many.

    Returns:
        The runs, and of those that cannot be read why.
    """
    journals = [path for path in folder.parent.glob(f"*/{FILE}") if path.parent != folder]
    newest = sorted(journals, key=lambda path: (-path.stat().st_mtime_ns, path))
    records, unread = [], []
    for one in (folder, *(path.parent for path in newest[: most - 1])):
        try:
            records.append(read_run(one))
        except UserError as error:
            unread.append(f"{one.name}: {error}")
    return records, unread


def ends(records: Sequence[RunRecord]) -> pd.DataFrame:
    """What each run was, spent and found, by its summary; NaN and None for one that goes on.

    Returns:
        A row per run, with columns ``run``, ``model``, ``strategy``, ``seed`` (of the random
        numbers), ``candidates``, ``accepted``, ``budget`` and ``spent`` (in rollouts), ``users``
        (test clusters), ``gain``, ``low`` and ``high`` (memory score of best less that of seed,
        with its 95 % interval), and for each of ``POLICIES`` its memory score, ``memory_seed`` and
        so on.
    """
    import pandas as pd

    rows = [_end(record) for record in records]
    frame = pd.DataFrame(rows, columns=list(_end_columns()))
    numbers = ["budget", "spent", "gain", "low", "high", *(f"memory_{name}" for name in POLICIES)]
    return frame.astype(dict.fromkeys(numbers, float))


def pairs(records: Sequence[RunRecord]) -> pd.DataFrame:
    """Best versions of every two runs on the test users that both scored, paired.

    Runs of other users, or of the same users with other lives, share none, and have no row. The
    bounds are those of the first of the two, so the models should be the same.

    Returns:
        Columns ``run``, ``other``, ``accuracy`` (best of ``run`` less best of ``other``) with
        ``accuracy_low`` and ``accuracy_high``, the same for ``memory``, ``clusters`` and
        ``answers``.
    """
    import pandas as pd

    rows = [row for one, other in combinations(records, 2) for row in _pair(one, other)]
    columns = ["run", "other", "accuracy", "accuracy_low", "accuracy_high"]
    columns += ["memory", "memory_low", "memory_high", "clusters", "answers"]
    return pd.DataFrame(rows, columns=columns)


def differing_options(records: Sequence[RunRecord]) -> pd.DataFrame:
    """The options in which runs differ: a row per run, a column per option."""
    import pandas as pd

    options = [dict(record.options) for record in records]
    names = dict.fromkeys(name for one in options for name in one)
    differing = [name for name in names if len({repr(one.get(name)) for one in options}) > 1]
    rows = [[one.get(name) for name in differing] for one in options]
    index = pd.Index([record.name for record in records], name="run")
    return pd.DataFrame(rows, index=index, columns=differing)


def _end_columns() -> tuple[str, ...]:
    of_policies = (f"memory_{name}" for name in POLICIES)
    first = ("run", "model", "strategy", "seed", "candidates", "accepted", "budget", "spent")
    return (*first, "users", "gain", "low", "high", *of_policies)


def _end(record: RunRecord) -> dict[str, Any]:
    summary = record.summary or {}
    gain = summary.get("gain") or {}
    test: Mapping[str, Mapping[str, Any]] = summary.get("test", {})
    return {
        "run": record.name,
        "model": record.models.model,
        "strategy": record.options["strategy"],
        "seed": record.options["seed"],
        "candidates": len(record.candidates),
        "accepted": len(record.versions) - 1,
        "budget": summary.get("budget"),
        "spent": summary.get("spent"),
        "users": gain.get("clusters"),
        "gain": gain.get("memory"),
        "low": gain.get("low"),
        "high": gain.get("high"),
        **{f"memory_{name}": test.get(name, {}).get("memory") for name in POLICIES},
    }


def _pair(one: RunRecord, other: RunRecord) -> list[tuple[object, ...]]:
    """The row of two runs, or none."""
    same = {user.id for user in one.users or () if user in (other.users or ())}
    found = {
        place: tuple(d for d in diagnoses(record, record.best.id, "test") if d.user in same)
        for place, record in enumerate((one, other))
        if same
    }
    shared = shared_answers({str(place): given for place, given in found.items()})
    if not shared or not shared["0"] or one.field is None:
        return []
    cluster_of, seed = one.field.cluster_of, int(one.options["seed"])
    ours, theirs = shared["0"], shared["1"]
    accuracy = accuracy_gain(theirs, ours, cluster_of, seed)
    bounded = all((d.user, d.period, d.question) in one.bounds for d in ours)
    memory = memory_gain(theirs, ours, one.bounds, cluster_of, seed) if bounded else None
    if accuracy is None:
        return []
    ends_of_memory = (None,) * 3 if memory is None else (memory.mean, memory.low, memory.high)
    ends_of_accuracy = (accuracy.mean, accuracy.low, accuracy.high)
    return [(one.name, other.name, *ends_of_accuracy, *ends_of_memory, accuracy.n, len(ours))]
