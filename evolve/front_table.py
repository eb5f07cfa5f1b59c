"""The front of a run as a table: what it offers at which price, and what became of each policy.

A candidate that was not accepted stands there where nothing cheaper is as accurate. Often only a
few gate users were asked of it, so its accuracy is not that of the same users as the versions'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve.tables import Table, number

COLUMNS = ("policy", "accuracy", "clusters", "tokens/answer", "verdict")
NOT_COMPARABLE = "* judged on fewer clusters than the versions, so not comparable with them"


@dataclass(frozen=True, slots=True)
class Offer:
    """A policy of the front.

    Attributes:
        name: What the table calls it.
        policy: Its id.
        accuracy: As the run estimates it on gate users, in 0..1.
        clusters: Of the gate that it is known from: users, or their questions under a split by
            time.
        tokens: Per answer.
        accepted: Whether it is a version.
    """

    name: str
    policy: str
    accuracy: float
    clusters: int
    tokens: float
    accepted: bool


def front_table(offers: Sequence[Offer], best: str, why: Mapping[str, str], title: str) -> Table:
    """The offers in their order.

    Args:
        offers: On the front.
        best: Id of the best version.
        why: Id of a candidate that was not accepted to the reason.
        title: Of the table, which says what a mark means where there is one.
    """
    asked = max((offer.clusters for offer in offers if offer.accepted), default=0)
    fewer = {offer.policy for offer in offers if offer.clusters < asked}
    rows = tuple(
        (
            offer.name,
            f"{number(offer.accuracy, 3)}{'*' * (offer.policy in fewer)}",
            f"{offer.clusters} of {asked}" if offer.policy in fewer else str(offer.clusters),
            number(offer.tokens, 0),
            _standing(offer, best, why),
        )
        for offer in offers
    )
    return Table(f"{title}; {NOT_COMPARABLE}" if fewer else title, COLUMNS, rows)


def _standing(offer: Offer, best: str, why: Mapping[str, str]) -> str:
    if offer.policy == best:
        return "best"
    if offer.accepted:
        return "accepted"
    reason = why.get(offer.policy)
    return "rejected at the gate" + (f": {reason}" if reason else "")
