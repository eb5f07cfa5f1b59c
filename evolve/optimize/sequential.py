"""The strategy ``sequential``: texts first, then settings, half of the budget each."""

from __future__ import annotations

from evolve.optimize.base import Proposal, ProposalContext, Proposer, Verdict

SWITCH = 0.5  # share of what candidates may cost that is spent before settings take over


class SequentialProposer:
    """Proposes texts until half of what candidates may cost is spent, and settings after that.

    The switch goes by the budget and not by a count: how many candidates a budget buys depends on
    how they fare. Settings are searched for the best text that was found. Texts go on where no
    settings are left to try.

    Args:
        texts: Proposes texts.
        settings: Proposes settings; an empty proposal where none are left to try.
    """

    def __init__(self, texts: Proposer, settings: Proposer) -> None:
        self._texts = texts
        self._settings = settings

    def propose(self, context: ProposalContext) -> Proposal:
        """A new text, or new settings.

        Raises:
            RejectedRewriteError: The new text breaks a rule.
            MnemotuneError: The model failed.
        """
        if context.spent >= SWITCH:
            found = self._settings.propose(context)
            if found.settings:
                return found
        return self._texts.propose(context)

    def observe(self, verdict: Verdict) -> None:
        """Pass it to both."""
        self._texts.observe(verdict)
        self._settings.observe(verdict)
