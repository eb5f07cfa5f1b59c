"""The strategy ``random``: settings by chance and, as often as ``joint``, a text too, blindly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from evolve.lm.base import LM
from evolve.optimize.base import Proposal, ProposalContext, Verdict
from evolve.optimize.credit import UNSCORED
from evolve.optimize.joint import JOINT_SHARE, TEXT_SHARE
from evolve.optimize.rewrite import RewriteProposer
from evolve.optimize.search import MOST_CHANGED, MOST_DRAWS
from evolve.seeding import derive
from policies.settings import Setting, SettingValue
from policies.text_rules import RewriteRules

OPERATOR = "random"  # of settings; a text's operator stands before it
UNKNOWN = "What failed is not known. Change the text as you think best."
_SIZES_FROM = 100  # smallest value of a setting that is drawn by ratio: numbers of tokens


class RandomProposer:
    """Proposes by chance: no feedback, no outcome and no model of either tells it where to look.

    A rewriter is asked for a text as in ``joint``, but is told nothing of what failed, and which
    text it is depends on nothing. One that came to nothing before anything was scored is passed
    over for a while, so that a run does not end over proposals that cost nothing.

    Args:
        lm: The rewriter.
        rules: What rewrites must obey.
    """

    def __init__(self, lm: LM, rules: RewriteRules) -> None:
        self._rewrite = RewriteProposer(lm, rules)

    def propose(self, context: ProposalContext) -> Proposal:
        """New settings, a new text or both, as often as in ``joint``.

        Raises:
            RejectedRewriteError: The new text breaks a rule.
            MnemotuneError: The model failed.
        """
        draw = random.Random(derive(context.seed, "random"))
        kind = draw.random()
        settings = Proposal(OPERATOR, settings=draw_settings(context, draw))
        if kind >= JOINT_SHARE + TEXT_SHARE and settings.settings:
            return settings
        text = self._rewrite.propose(_blind(context))
        if kind >= JOINT_SHARE or not settings.settings:
            return text
        operator = f"{text.operator}+{OPERATOR}"
        return replace(text, operator=operator, settings=settings.settings)

    def observe(self, verdict: Verdict) -> None:
        """Let the rewriter know which of its texts came to nothing, and nothing else."""
        if verdict.stage not in UNSCORED:
            verdict = replace(verdict, operator=OPERATOR)  # nobody's merit
        self._rewrite.observe(verdict)


def draw_settings(context: ProposalContext, draw: random.Random) -> dict[str, SettingValue]:
    """Some of the parent's settings at other values: how many, which and what, all by chance.

    Empty if the architecture has none.
    """
    settings = context.constraints.settings_of(context.parent.architecture)
    own = context.parent.settings
    for _ in range(MOST_DRAWS if settings else 0):
        drawn = {s.name: draw_value(s, draw) for s in _some(settings, draw)}
        changed = {name: value for name, value in drawn.items() if value != own[name]}
        if changed:
            return changed
    return {}


def draw_value(setting: Setting, draw: random.Random) -> SettingValue:
    """Any value that a setting may have: choices and numbers evenly, sizes evenly by ratio."""
    if setting.values:
        return draw.choice(setting.values)
    if setting.optional and draw.random() < 0.5:
        return None
    if setting.low < _SIZES_FROM:
        return draw.randrange(setting.low, setting.high + 1, setting.step)
    size: float = setting.low * (setting.high / setting.low) ** draw.random()
    return setting.low + round((size - setting.low) / setting.step) * setting.step


def _some(settings: Sequence[Setting], draw: random.Random) -> list[Setting]:
    """As few as ``joint`` changes or, as often, any number: most of a good policy should stay."""
    most = len(settings) if draw.random() < 0.5 else min(MOST_CHANGED, len(settings))
    return draw.sample(settings, draw.randint(1, most))


def _blind(context: ProposalContext) -> ProposalContext:
    """A context that says nothing of what failed, nor of what became of anything."""
    feedback = replace(
        context.feedback,
        numbers={},
        failing_states=(),
        mass={},
        texts=dict.fromkeys(context.feedback.texts, UNKNOWN),
        markdown="",
    )
    return ProposalContext(context.parent, context.versions, feedback, None, context.seed)
