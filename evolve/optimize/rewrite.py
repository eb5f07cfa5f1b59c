"""The proposer of texts: a model changes the parent's texts, by one of several operators.

- ``rewrite``: one text anew from all that failed, knowing the settings that change with it, if any;
- ``merge``: takes over what another version has and the parent lacks;
- ``repair``: mends an attempt that fell at the gate, told what it did worse on train users;
- ``sharpen``: adds or sharpens one remembered type that failed;
- ``simplify``: a text that has grown beyond the seed's, shorter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from evolve.lm.base import LM
from evolve.optimize.base import Proposal, ProposalContext, RejectedRewriteError, Tried, Verdict
from evolve.optimize.credit import UNSCORED, Credit, mass_of, operator_of, parts_of
from evolve.optimize.rewrite_check import check_text, with_ends_of
from evolve.optimize.rewrite_fields import (
    PURPOSES,
    changes_text,
    common_fields,
    examples,
    sections,
    settings_text,
)
from evolve.optimize.rewrite_merge import Partner, draw_partner, partners
from evolve.seeding import derive
from feedback.routing import GROUPS
from policies.errors import RejectedTextError
from policies.policy import Policy
from policies.settings import SettingValue
from policies.text_rules import RewriteRules
from policies.words import count_tokens

WEIGHTS: Mapping[str, float] = {
    "rewrite": 1.0,
    "merge": 0.2,
    "repair": 0.25,
    "sharpen": 0.1,
    "simplify": 0.1,
}
"""Operator to how often it is drawn before anything is known of what it earns."""
_FINER = WEIGHTS.keys() - {"rewrite"}  # where these find nothing, a whole rewrite still may
GROWN = 1.25  # times the seed's text: from here on a text may be simplified
SHORTER = 0.75  # of a text's length: what simplifying asks for
WORST = 6  # failing types of which one is sharpened


class RewriteProposer:
    """Changes the texts that failures are blamed on.

    Which text is drawn by its credit, and so is the operator, among those that can be used. A text
    whose last rewrite was turned down unscored (a rule broken, or nothing new) is passed over until
    a candidate is scored, as long as the policy has another.

    Args:
        lm: The rewriter, through a dspy engine.
        rules: What rewrites must obey.

    Attributes:
        credit: What proposals have earned, of whatever kind.
    """

    def __init__(self, lm: LM, rules: RewriteRules) -> None:
        self.credit = Credit()
        self._lm = lm
        self._rules = rules
        self._turned_down: set[tuple[str, str]] = set()  # (parent, text)

    def propose(
        self,
        context: ProposalContext,
        name: str | None = None,
        settings: Mapping[str, SettingValue] | None = None,
    ) -> Proposal:
        """Change one text, or merge with another version.

        Args:
            context: As for every proposer.
            name: The text to change; by default it is drawn by credit.
            settings: That change together with the text, for the rewriter to know.

        Returns:
            A proposal with new text; with settings only if it is a merge or a repair, which have
            their own.

        Raises:
            RejectedRewriteError: The new text breaks a rule or could not be read.
            MnemotuneError: The model failed.
        """
        draw = random.Random(derive(context.seed, "rewrite"))
        name = name or self._choose(context, draw)
        found, fallen = partners(context), _fallen(context, name)
        possible = {
            "rewrite": lambda: self._rewrite(context, name, settings or {}),
            "merge": lambda: self.merge(context, draw_partner(context, found, draw)),
            "repair": lambda: self._repair(context, name, fallen[-1]),
            "sharpen": lambda: self._sharpen(context, name, draw),
            "simplify": lambda: self._simplify(context, name),
        }
        usable = {
            "rewrite": True,
            "merge": bool(found),
            "repair": bool(fallen),
            "sharpen": bool(_failing(context, name)),
            "simplify": _has_grown(context, name),
        }
        names = [operator for operator in possible if usable[operator]]
        weights = [WEIGHTS[o] * self.credit.operator(o).worth for o in names]
        return possible[draw.choices(names, weights)[0]]()

    def observe(self, verdict: Verdict) -> None:
        """Remember which rewrites came to nothing, and what has paid."""
        self.credit.observe(verdict)
        name = text_of(verdict.operator)
        if verdict.stage not in UNSCORED:
            self._turned_down.clear()
        elif name is not None and not _FINER & set(operator_of(verdict.operator).split("+")):
            self._turned_down.add((verdict.incumbent, name))

    def open_texts(self, context: ProposalContext) -> tuple[str, ...]:
        """The parent's texts that feedback goes to, without those that are passed over."""
        parent = context.parent
        acting = tuple(name for name in parent.texts if name in context.feedback.texts)
        texts = tuple(n for n in acting if (parent.id, n) not in self._turned_down)
        return texts or acting or tuple(parent.texts)

    def merge(self, context: ProposalContext, partner: Partner) -> Proposal:
        """Merge the parent with another version.

        What only the other has changed is taken over as it is, if the rules allow it; the rewriter
        merges the texts that both have changed.

        Raises:
            RejectedRewriteError: As in ``propose``.
            MnemotuneError: The model failed.
        """
        parent, other = context.parent, partner.policy
        groups = [g for g, members in GROUPS.items() if partner.settings.keys() & set(members)]
        operator = "merge:" + ",".join([*partner.taken, *partner.mixed, *groups])
        made = Proposal(operator, {}, partner.settings, other.id)
        mixed = list(partner.mixed)
        for name, text in partner.taken.items():
            try:
                check_text(name, parent.texts[name], text, self._rules)
            except RejectedTextError:  # such as one that has grown over many versions
                mixed.append(name)
            else:
                made = replace(made, texts={**made.texts, name: text})
        for name in mixed:
            made = self._mixed(context, made, name, other)
        return made

    def _mixed(
        self, context: ProposalContext, made: Proposal, name: str, other: Policy
    ) -> Proposal:
        from evolve.optimize.rewrite_program import Merger

        fields = {
            "first_text": context.parent.texts[name],
            "second_text": other.texts[name],
            **common_fields(context, name),
        }
        return self._asked(context, made, name, lambda: Merger()(**fields).new_text)

    def _rewrite(
        self, context: ProposalContext, name: str, settings: Mapping[str, SettingValue]
    ) -> Proposal:
        from evolve.optimize.rewrite_program import JointRewriter, Rewriter

        fields = {"current_text": context.parent.texts[name], **common_fields(context, name)}
        shown = examples(context, name)

        def program() -> str | None:
            if not settings:
                alone: str | None = Rewriter(shown)(**fields).new_text
                return alone
            held = settings_text(context.parent, settings)
            joint: str | None = JointRewriter(shown)(settings=held, **fields).new_text
            return joint

        return self._asked(context, Proposal(f"rewrite:{name}"), name, program)

    def _sharpen(self, context: ProposalContext, name: str, draw: random.Random) -> Proposal:
        from evolve.optimize.rewrite_program import Sharpener

        failing = _failing(context, name)
        target = draw.choice(list(failing)[:WORST])
        fields = {
            **common_fields(context, name),
            "current_text": context.parent.texts[name],
            "failing_type": target,
            "feedback": failing[target],
        }
        made = Proposal(f"sharpen:{name}")
        return self._asked(context, made, name, lambda: Sharpener()(**fields).new_text)

    def _simplify(self, context: ProposalContext, name: str) -> Proposal:
        from evolve.optimize.rewrite_program import Simplifier

        old = context.parent.texts[name]
        common = common_fields(context, name, int(SHORTER * len(old.encode())))
        fields = {"current_text": old, "still_failing": common.pop("feedback"), **common}
        made = Proposal(f"simplify:{name}")
        return self._asked(context, made, name, lambda: Simplifier()(**fields).new_text)

    def _repair(self, context: ProposalContext, name: str, fallen: Tried) -> Proposal:
        """What fell, mended, with the settings that it had."""
        from evolve.optimize.rewrite_program import Repairer

        parent, attempt = context.parent, fallen.policy
        changes = f"{changes_text(fallen.changes)}\nIt was not kept: {fallen.verdict.reason}."
        fields = {
            **common_fields(context, name),
            "current_text": parent.texts[name],
            "attempt": attempt.texts[name],
            "changes": changes,
        }
        steps = fallen.verdict.operator.removeprefix("placebo:").split("+")[1:]
        operator = "+".join((f"repair:{name}", *steps))
        settings = {k: v for k, v in attempt.settings.items() if v != parent.settings[k]}
        made = Proposal(operator, {}, settings, attempt.id)
        return self._asked(context, made, name, lambda: Repairer()(**fields).new_text)

    def _choose(self, context: ProposalContext, draw: random.Random) -> str:
        mass = mass_of(context.parent, context.feedback)
        shares = self.credit.shares({name: mass[name] for name in self.open_texts(context)})
        return draw.choices(list(shares), list(shares.values()))[0]

    def _asked(
        self,
        context: ProposalContext,
        made: Proposal,
        name: str,
        program: Callable[[], str | None],
    ) -> Proposal:
        """The proposal with one more text, which a program gives and the rules allow."""
        from evolve.lm.dspy_lm import ask

        old = context.parent.texts[name]
        new = None
        try:
            seed = derive(context.seed, f"{operator_of(made.operator).partition('+')[0]}:{name}")
            new = with_ends_of(old, ask(self._lm, seed, program))
            shorter = made.operator.startswith("simplify")
            check_text(name, old, new, self._rules, shorter=shorter)
        except RejectedTextError as error:
            texts = made.texts if new is None else {**made.texts, name: new}
            raise RejectedRewriteError(str(error), replace(made, texts=texts)) from error
        assert new is not None  # check_text has said so
        return replace(made, texts={**made.texts, name: new})


def text_of(operator: str) -> str | None:
    """The first text that an operator such as ``rewrite:memory_types+search`` changed, if any."""
    return next((part for part in parts_of(operator) if part in PURPOSES), None)


def _failing(context: ProposalContext, name: str) -> dict[str, str]:
    """Failing type to how it failed, where one type of a list can be mended."""
    return sections(context.feedback.texts.get(name, "")) if name == "memory_types" else {}


def _has_grown(context: ProposalContext, name: str) -> bool:
    seed = context.versions[0].texts.get(name)
    return seed is not None and count_tokens(context.parent.texts[name]) > GROWN * count_tokens(
        seed
    )


def _fallen(context: ProposalContext, name: str) -> list[Tried]:
    """The parent's candidates with a new text of this name that fell at the gate, not repaired."""
    mine = [tried for tried in context.tried if tried.parent.id == context.parent.id]
    repaired = {one for tried in mine for one in tried.policy.lineage.parents[1:]}
    return [
        tried
        for tried in mine
        if tried.verdict.stage == "gate"
        and not tried.verdict.accepted
        and tried.policy.id not in repaired
        and tried.policy.architecture == context.parent.architecture
        and name in parts_of(tried.verdict.operator)
        and tried.policy.texts[name] != context.parent.texts[name]
    ]
