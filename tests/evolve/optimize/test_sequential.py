"""Texts first, then settings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.optimize.base import Proposal
from evolve.optimize.sequential import SequentialProposer
from policies.policy import seed_policy


class Fixed:
    """Proposes one thing and keeps what it observes."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self.seen: list[object] = []

    def propose(self, context) -> Proposal:
        return self.proposal

    def observe(self, verdict) -> None:
        self.seen.append(verdict)


TEXT = Proposal("rewrite:memory_types", {"memory_types": "- tea"})
FOUND = Proposal("search", settings={"top_k": 3})


@pytest.mark.parametrize(
    ("spent", "found", "proposed"),
    [
        (0.0, FOUND, TEXT),
        (0.49, FOUND, TEXT),
        (0.5, FOUND, FOUND),
        (1.0, FOUND, FOUND),
        (0.7, Proposal("search"), TEXT),
    ],
)
def test_settings_take_over_at_half_of_the_budget(spent, found, proposed, context_for) -> None:
    context = replace(context_for(seed_policy("awe")), spent=spent)
    assert SequentialProposer(Fixed(TEXT), Fixed(found)).propose(context) == proposed


def test_both_observe(verdict_on) -> None:
    texts, settings = Fixed(TEXT), Fixed(FOUND)
    awe = seed_policy("awe")
    SequentialProposer(texts, settings).observe(verdict_on(awe, awe, "search"))
    assert texts.seen == settings.seen != []
