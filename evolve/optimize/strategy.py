"""Strategies: how rewriting and searching go together, and the placebo that measures mere slots."""

from __future__ import annotations

import random
from dataclasses import replace

from evolve.lm.base import LM
from evolve.optimize.base import Proposal, ProposalContext, Proposer, Verdict
from evolve.optimize.placebo import PlaceboProposer
from evolve.optimize.rewrite import RewriteProposer
from evolve.optimize.search import SearchProposer
from evolve.seeding import derive
from policies.errors import ConfigError
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


def make_proposer(strategy: str, lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    """The proposer of a strategy.

    Args:
        strategy: ``joint``, or ``placebo``, which puts random words where new types would stand.
        lm: The rewriter; wrap it in a meter to count what rewriting costs.
        rules: What rewrites must obey.
        seed: Of the run; the placebo's words are drawn from it.

    Raises:
        ConfigError: No such strategy.
    """
    joint = JointProposer(lm, rules)
    if strategy == "joint":
        return joint
    if strategy == "placebo":
        return PlaceboProposer(joint, rules, seed)
    raise ConfigError(f"strategy must be joint or placebo, not {strategy!r}; choose one of them")
