"""Strategies by name: what proposes candidates."""

from __future__ import annotations

from evolve.lm.base import LM
from evolve.optimize.base import Proposer
from evolve.optimize.joint import JointProposer
from evolve.optimize.placebo import PlaceboProposer
from policies.errors import ConfigError
from policies.text_rules import RewriteRules


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
