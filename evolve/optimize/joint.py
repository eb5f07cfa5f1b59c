"""The strategy ``joint``: new text, new settings, or both at once."""

from __future__ import annotations

import random
from dataclasses import replace

from evolve.lm.base import LM
from evolve.optimize.base import Proposal, ProposalContext, Verdict
from evolve.optimize.rewrite import RewriteProposer
from evolve.optimize.search import SearchProposer
from evolve.seeding import derive
from policies.text_rules import RewriteRules

JOINT_SHARE = 0.4  # of candidates: new text and settings searched for it
TEXT_SHARE = 0.4  # new text alone; the rest are new settings alone


class JointProposer:
    """Proposes new text, new settings, or both at once, since the best setting depends on the text.

    Args:
        lm: The rewriter.
        rules: What rewrites must obey.
    """

    def __init__(self, lm: LM, rules: RewriteRules) -> None:
        self._rewrite = RewriteProposer(lm, rules)
        self._search = SearchProposer()

    def propose(self, context: ProposalContext) -> Proposal:
        """One of the three, drawn from the context's seed; a run's first has new text.

        Raises:
            RejectedRewriteError: The new text breaks a rule; no settings are searched for it.
            MnemotuneError: The model failed.
        """
        draw = random.Random(derive(context.seed, "strategy")).random()
        if draw >= JOINT_SHARE + TEXT_SHARE and context.last_verdict is not None:
            settings = self._search.propose(context)
            if settings.settings:
                return settings
        text = self._rewrite.propose(context)
        if JOINT_SHARE <= draw < JOINT_SHARE + TEXT_SHARE:
            return text
        settings = self._search.propose(context)
        if not settings.settings:
            return text
        operator = f"{text.operator}+{settings.operator}"
        return replace(text, operator=operator, settings=settings.settings)

    def observe(self, verdict: Verdict) -> None:
        """Pass it to both."""
        self._rewrite.observe(verdict)
        self._search.observe(verdict)
