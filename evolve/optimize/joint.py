"""The strategy ``joint``: new text, new settings, or both at once, where failures call for them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from evolve.lm.base import LM
from evolve.optimize.base import Proposal, ProposalContext, Verdict
from evolve.optimize.credit import mass_of
from evolve.optimize.rewrite import RewriteProposer
from evolve.optimize.search import SearchProposer
from evolve.seeding import derive
from feedback.routing import GROUPS
from policies.text_rules import RewriteRules

JOINT_SHARE = 0.4  # of candidates: new text and settings searched for it
TEXT_SHARE = 0.4  # new text alone, the rest new settings alone, where nothing is routed


class JointProposer:
    """Proposes new text, new settings, or both at once, since the best setting depends on the text.

    Candidates that change both get a fixed share: of them, the text and the group of settings are
    drawn by credit, each among its kind. The others change one part, drawn among all.

    Args:
        lm: The rewriter.
        rules: What rewrites must obey.
        routed: Whether parts are drawn by credit, or else all alike; for ablations.
        both: Whether any candidate changes both; for ablations.
    """

    def __init__(
        self, lm: LM, rules: RewriteRules, *, routed: bool = True, both: bool = True
    ) -> None:
        self._rewrite = RewriteProposer(lm, rules)
        self._search = SearchProposer()
        self._routed = routed
        self._joint = JOINT_SHARE if both else 0.0

    def propose(self, context: ProposalContext) -> Proposal:
        """One of the three, drawn from the context's seed; a run's first has new text.

        Raises:
            RejectedRewriteError: The new text breaks a rule; no settings are searched for it.
            MnemotuneError: The model failed.
        """
        draw = random.Random(derive(context.seed, "strategy"))
        mass = mass_of(context.parent, context.feedback)
        texts = {name: mass[name] for name in self._rewrite.open_texts(context)}
        groups = {group: mass[group] for group in mass if group in GROUPS}
        joint = draw.random() < self._joint
        part = self._draw(texts if joint or context.last_verdict is None else texts | groups, draw)
        if part in groups:
            settings = self._searched(context, part)
            if settings.settings:
                return settings
            part = self._draw(texts, draw)
        beside = Proposal("search")
        if joint and groups:
            beside = self._searched(context, self._draw(groups, draw))
        text = self._rewrite.propose(context, part, beside.settings)
        if not beside.settings or text.settings:  # a merge and a repair have their own
            return text
        operator = f"{text.operator}+{beside.operator}"
        return replace(text, operator=operator, settings=beside.settings)

    def observe(self, verdict: Verdict) -> None:
        """Pass it to both."""
        self._rewrite.observe(verdict)
        self._search.observe(verdict)

    def _draw(self, mass: Mapping[str, float], draw: random.Random) -> str:
        """A part: by credit, or where nothing is routed texts and settings by fixed shares."""
        if self._routed:
            shares = self._rewrite.credit.shares(mass)
        else:
            groups = sum(part in GROUPS for part in mass)
            alone = {True: 1 - JOINT_SHARE - TEXT_SHARE, False: TEXT_SHARE}
            shares = {
                part: alone[part in GROUPS] / (groups if part in GROUPS else len(mass) - groups)
                for part in mass
            }
        return draw.choices(list(shares), list(shares.values()))[0]

    def _searched(self, context: ProposalContext, group: str) -> Proposal:
        found = self._search.propose(context, GROUPS[group])
        return replace(found, operator=f"{found.operator}:{group}")
