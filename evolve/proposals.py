"""Asks the proposer, once per candidate: the proposal and what it cost are journaled together."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evolve.codec import from_data, to_data
from evolve.evaluate import Evaluator
from evolve.lm.meter import Meter
from evolve.money import once_paid
from evolve.optimize.base import (
    Proposal,
    ProposalContext,
    Proposer,
    RejectedRewriteError,
    Verdict,
)
from evolve.optimize.mirror import Mirror
from feedback.records import Usage


class Proposals:
    """Proposals of one run.

    Args:
        proposer: Proposes; None for an engine that does so by itself and never asks.
        lm: The rewriter that it asks, metered.
        evaluator: Whose journal and usage take them in.
        mirror: Is told every verdict, too.
    """

    def __init__(
        self,
        proposer: Proposer | None,
        lm: Meter,
        evaluator: Evaluator,
        mirror: Mirror | None = None,
    ) -> None:
        self._proposer = proposer
        self._mirror = mirror
        self._lm = lm
        self._evaluator = evaluator

    def ask(self, name: str, context: ProposalContext) -> tuple[Proposal, str | None]:
        """The proposal of a candidate, and why its text was rejected, or None.

        Args:
            name: Of the candidate.
            context: What the proposer may look at.
        """
        journal = self._evaluator.journal
        data = once_paid(journal, "proposal", name, lambda: self._propose(context))
        for role, usage in data["usage"].items():
            self._evaluator.spend(role, from_data(Usage, usage))
        return Proposal(**data["proposal"]), data["rejected"]

    def observe(self, verdict: Verdict) -> None:
        """Tell the proposer and the mirror what became of a candidate."""
        for one in (self._proposer, self._mirror):
            if one is not None:
                one.observe(verdict)

    def _propose(self, context: ProposalContext) -> dict[str, Any]:
        assert self._proposer is not None  # engines that have none never ask
        self._lm.reset()
        rejected = None
        try:
            proposal = self._proposer.propose(context)
        except RejectedRewriteError as error:
            proposal, rejected = error.proposal, str(error)
        usage = {role: to_data(spent) for role, spent in self._lm.usage}
        return {"proposal": asdict(proposal), "rejected": rejected, "usage": usage}
