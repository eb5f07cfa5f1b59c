"""The front of a run as its report shows it, from ``pareto.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.folder import PARETO
from evolve.front_table import Offer, front_table
from evolve.results.run_record import RunRecord
from evolve.tables import Table, number
from policies.errors import RunFolderError
from policies.settings import as_text

_DAMAGED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_TOLD = (
    "Policies that no other beats in accuracy on gate users and in tokens at once, the cheapest "
    "first. A candidate that was not accepted counts as no better than the version that it was "
    "compared with."
)
_TOLD_BY_EVIDENCE = (
    "Settings that no others beat in evidence recall and in precision at once, on the dialogues "
    "that they were searched on; the most precise first."
)


@dataclass(frozen=True, slots=True)
class Front:
    """The front of a run.

    Attributes:
        table: Without rows where the run wrote none.
        told: How to read it.
    """

    table: Table
    told: str


def front_of(record: RunRecord) -> Front:
    """What the run offers at which price.

    Raises:
        RunFolderError: Its file cannot be read, or is damaged.
    """
    import yaml

    path = record.folder / PARETO
    try:
        if not path.is_file():
            return Front(Table("Pareto front", (), ()), "")
        return _front(record, yaml.safe_load(path.read_text("utf-8")))
    except (OSError, yaml.YAMLError, *_DAMAGED) as error:
        raise RunFolderError(
            f"The front of a run stands in its {PARETO}, but {path} is not what a run writes "
            f"({type(error).__name__}); resume the run, which writes it anew."
        ) from error


def _front(record: RunRecord, pareto: Mapping[str, Any]) -> Front:
    if "tokens_shown" in pareto["limits"]:
        return Front(_by_evidence(record, pareto), _TOLD_BY_EVIDENCE)
    offers = [
        Offer(
            point["name"],
            point["policy"],
            point["accuracy"],
            point["clusters"],
            point["tokens_per_answer"],
            point["accepted"],
        )
        for point in pareto["front"]
    ]
    why = {
        one.policy.id: one.verdict.reason for one in record.candidates if not one.verdict.accepted
    }
    return Front(front_table(offers, pareto["best"], why, "Pareto front"), _TOLD)


def _by_evidence(record: RunRecord, pareto: Mapping[str, Any]) -> Table:
    """Of a search by the evidence: which settings were taken, and which show more than allowed."""
    limit, first = pareto["limits"]["tokens_shown"], pareto["front"][0]["settings"]
    looked = {
        one.policy.id: f"{one.name}, {one.verdict.reason}"
        for one in record.candidates
        if not one.verdict.accepted
    }

    def became(point: Mapping[str, Any]) -> str:
        if point["policy"] == pareto["best"]:
            return "best"
        over = "over the limit" if point["tokens_shown"] > limit else "-"
        return looked.get(point["policy"], over)

    rows = tuple(
        (
            number(point["recall"], 3),
            number(point["precision"], 4),
            number(point["tokens_shown"], 0),
            *(as_text(value) for value in point["settings"].values()),
            became(point),
        )
        for point in pareto["front"]
    )
    columns = ("recall", "precision", "tokens shown", *first, "verdict")
    return Table("Pareto front", columns, rows)
