"""A proposer that proposes what a test's script says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from evolve.journal import FILE
from evolve.optimize.base import Proposal, ProposalContext, Verdict


class ScriptedProposer:
    """Proposes by a script in order, goes on in it where a run is resumed, and repeats its end.

    Args:
        script: Proposals, or errors to raise in place of one.
        folder: The run's, whose journal says how far the script was followed before.

    Attributes:
        contexts: What it was asked with, in order.
    """

    def __init__(self, script: Sequence[Proposal | Exception], folder: Path) -> None:
        lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
        self._past = sum(json.loads(line)["kind"] == "proposal" for line in lines)
        self._script = script
        self.contexts: list[ProposalContext] = []

    def propose(self, context: ProposalContext) -> Proposal:
        self.contexts.append(context)
        proposal = self._script[min(len(self.contexts) + self._past, len(self._script)) - 1]
        if isinstance(proposal, Exception):
            raise proposal
        return proposal

    def observe(self, verdict: Verdict) -> None:
        """Learn nothing."""
