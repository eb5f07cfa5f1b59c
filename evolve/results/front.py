"""The front of a run as its report shows it, from ``pareto.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

from evolve.front_table import Offer, front_table
from evolve.results.run_record import RunRecord
from evolve.results.summary import EvidenceFront, FoundBy, read_front
from evolve.tables import Table, number
from policies.settings import as_text

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
    found = read_front(record.folder)
    if found is None:
        return Front(Table("Pareto front", (), ()), "")
    if isinstance(found, EvidenceFront):
        return Front(_by_evidence(record, found), _TOLD_BY_EVIDENCE)
    offers = [
        Offer(
            point.name,
            point.policy,
            point.accuracy,
            point.clusters,
            point.tokens_per_answer,
            point.accepted,
        )
        for point in found.front
    ]
    why = {
        one.policy.id: one.verdict.reason for one in record.candidates if not one.verdict.accepted
    }
    return Front(front_table(offers, found.best, why, "Pareto front"), _TOLD)


def _by_evidence(record: RunRecord, found: EvidenceFront) -> Table:
    """Of a search by the evidence: which settings were taken, and which show more than allowed."""
    looked = {
        one.policy.id: f"{one.name}, {one.verdict.reason}"
        for one in record.candidates
        if not one.verdict.accepted
    }

    def became(point: FoundBy) -> str:
        if point.policy == found.best:
            return "best"
        over = "over the limit" if point.tokens_shown > found.limits.tokens_shown else "-"
        return looked.get(point.policy, over)

    rows = tuple(
        (
            number(point.recall, 3),
            number(point.precision, 4),
            number(point.tokens_shown, 0),
            *(as_text(value) for value in point.settings.values()),
            became(point),
        )
        for point in found.front
    )
    columns = ("recall", "precision", "tokens shown", *found.front[0].settings, "verdict")
    return Table("Pareto front", columns, rows)
