"""The proposer of texts: a model rewrites one text of the parent from what failed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

from evolve.lm.base import LM
from evolve.optimize.base import Proposal, ProposalContext, RejectedRewriteError, Verdict
from evolve.optimize.credit import UNSCORED, Credit, mass_of
from evolve.seeding import derive
from policies.errors import RejectedTextError
from policies.placeholders import names
from policies.policy import Policy
from policies.text_form import form_of
from policies.text_rules import RewriteRules, check_rewrite
from policies.words import count_tokens

MERGE_SHARE = 1 / 6  # of proposals, once two other versions exist
_MOST_BYTES = 8000  # what policies.text_rules allows: 2,000 tokens, and twice the parent
_MOST_GROWTH = 2
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+\S", re.MULTILINE)

_PURPOSES = {
    "memory_types": (
        "the list of types of information that are written down about the user, one per bullet;"
        " facts are kept under the words of a bullet, up to its colon if it has one, and what fits"
        " no bullet is forgotten"
    ),
    "write_prompt": (
        "the instructions by which new messages of a conversation are turned into notes on the user"
    ),
    "reply_prompt": (
        "the instructions by which the assistant replies to the user's messages; what it asks the"
        " user about, it may learn"
    ),
    "answer_prompt": (
        "the instructions by which the assistant answers a question on the user's behalf, from what"
        " it has in memory"
    ),
}


class RewriteProposer:
    """Rewrites the text that most failures are blamed on, or merges it with another version's.

    Which text is drawn by its credit. One whose last rewrite was turned down unscored (a rule
    broken, or nothing new) is passed over until a candidate is scored, as long as the policy has
    another text.

    Beside the rules, a new text is rejected that is a list or an object of JSON, and a list of
    types that has lost its bullets.

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

    def propose(self, context: ProposalContext, name: str | None = None) -> Proposal:
        """Rewrite or merge one text.

        Args:
            context: As for every proposer.
            name: The text to rewrite; by default it is drawn by credit.

        Raises:
            RejectedRewriteError: The new text breaks a rule or could not be read.
            MnemotuneError: The model failed.
        """
        draw = random.Random(derive(context.seed, "rewrite"))
        merge = draw.random() < MERGE_SHARE
        others = _others(context) if merge else []
        if others:
            name, other = others[draw.randrange(len(others))]
            return self.merge(context, name, other)
        return self._rewrite(context, name or self._choose(context, draw))

    def observe(self, verdict: Verdict) -> None:
        """Remember which rewrites came to nothing, and what has paid."""
        self.credit.observe(verdict)
        name = text_of(verdict.operator)
        if verdict.stage not in UNSCORED:
            self._turned_down.clear()
        elif name is not None:
            self._turned_down.add((verdict.incumbent, name))

    def merge(self, context: ProposalContext, name: str, other: Policy) -> Proposal:
        """Merge the parent's text with another version's.

        Raises:
            RejectedRewriteError: As in ``propose``.
            MnemotuneError: The model failed.
        """
        from evolve.optimize.rewrite_program import Merger

        def program() -> str | None:
            first, second = (policy.texts[name] for policy in (context.parent, other))
            text: str | None = Merger()(
                first_text=first, second_text=second, **_common_fields(context, name)
            ).new_text
            return text

        return replace(self._checked(context, f"merge:{name}", program), merged=other.id)

    def _rewrite(self, context: ProposalContext, name: str) -> Proposal:
        from evolve.optimize.rewrite_program import Rewriter

        def program() -> str | None:
            text: str | None = Rewriter()(
                current_text=context.parent.texts[name], **_common_fields(context, name)
            ).new_text
            return text

        return self._checked(context, f"rewrite:{name}", program)

    def open_texts(self, parent: Policy) -> tuple[str, ...]:
        """The parent's texts, without those that are passed over."""
        texts = tuple(n for n in parent.texts if (parent.id, n) not in self._turned_down)
        return texts or tuple(parent.texts)

    def _choose(self, context: ProposalContext, draw: random.Random) -> str:
        mass = mass_of(context.parent, context.feedback)
        shares = self.credit.shares({name: mass[name] for name in self.open_texts(context.parent)})
        return draw.choices(list(shares), list(shares.values()))[0]

    def _checked(
        self, context: ProposalContext, operator: str, program: Callable[[], str | None]
    ) -> Proposal:
        """Run a program and check the text that it gives."""
        from evolve.lm.dspy_lm import ask

        name = operator.partition(":")[2]
        old = context.parent.texts[name]
        new = None
        try:
            new = _with_ends_of(old, ask(self._lm, derive(context.seed, operator), program))
            _check_is_text(new)
            check_rewrite(old, new, self._rules)
            _check_bullets(name, old, new or "")
        except RejectedTextError as error:
            texts = {} if new is None else {name: new}
            raise RejectedRewriteError(str(error), Proposal(operator, texts)) from error
        assert new is not None  # check_rewrite has said so
        return Proposal(operator, {name: new})


def text_of(operator: str) -> str | None:
    """The text that an operator such as ``rewrite:memory_types+search`` changed, if any."""
    name = operator.partition("+")[0].rpartition(":")[2]
    return name if name in _PURPOSES else None


def _others(context: ProposalContext) -> list[tuple[str, Policy]]:
    """(text, version) that the parent could take lines from; none with fewer than two versions.

    A text that an ancestor of the parent had offers nothing but what was already left behind.
    """
    parent = context.parent
    others = [
        v for v in context.versions if v.id != parent.id and v.texts.keys() == parent.texts.keys()
    ]
    if len(others) < 2:
        return []
    left = {(name, text) for v in _ancestry(context) for name, text in v.texts.items()}
    return [
        (name, other)
        for other in others
        for name, text in other.texts.items()
        if (name, text) not in left and _lines(text) - _lines(parent.texts[name])
    ]


def _ancestry(context: ProposalContext) -> list[Policy]:
    """The parent and its ancestors among the versions."""
    known = {version.id: version for version in context.versions}
    found = {context.parent.id: context.parent}
    waiting = [context.parent]
    while waiting:
        for one in waiting.pop().lineage.parents:
            if one in known and one not in found:
                found[one] = known[one]
                waiting.append(known[one])
    return list(found.values())


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.split("\n")}


def _common_fields(context: ProposalContext, name: str) -> dict[str, str]:
    """The input fields that rewriting and merging share."""
    feedback = context.feedback.texts.get(name, "").strip() or "No failure was blamed on this text."
    last = context.last_verdict
    if (
        last
        and not last.accepted
        and (last.incumbent, text_of(last.operator)) == (context.parent.id, name)
    ):
        feedback += f"\n\nThe last attempt at this text was not kept: {last.reason}"
    return {
        "purpose": f"{name}: {_PURPOSES[name]}",
        "rules": _rules(context.parent.texts[name]),
        "feedback": feedback,
    }


def _rules(text: str) -> str:
    """What a rewrite of a text must obey, in words."""
    kept = ", ".join(f"{{{{{name}}}}}" for name in names(text))
    room = min(_MOST_BYTES, 4 * _MOST_GROWTH * count_tokens(text))
    return "\n".join(
        (
            f"- Keep each of the placeholders {kept}, and add no others."
            if kept
            else "- Use no placeholders in double braces.",
            *(["- Keep asking for a JSON object, and showing one."] if form_of(text) else []),
            f"- At most {room} characters, a Chinese or Japanese one counted as three.",
            "- Write in the language of the current text.",
            "- Name types of information, never the value that some user has.",
            "- Do not copy phrases from users' messages, questions or answers.",
            "- No fences, no quotes around the text, no remarks on it.",
        )
    )


def _with_ends_of(old: str, new: str | None) -> str | None:
    """White space at the ends as in the old text: a reply's format does not carry it."""
    if new is None or not new.strip():
        return new
    start = old[: len(old) - len(old.lstrip())]
    return start + new.strip() + old[len(old.rstrip()) :]


def _check_is_text(new: str | None) -> None:
    """Refuse data structures, which a JSON reply may hold where text was asked for."""
    bare = (new or "").strip()
    as_object = bare.startswith("{") and not bare.startswith("{{") and bare.endswith("}")
    if as_object or (bare.startswith("[") and bare.endswith("]")):
        raise RejectedTextError("the rewrite is a list or an object, not text")


def _check_bullets(name: str, old: str, new: str) -> None:
    """Refuse a list of types without the bullets that facts are kept under."""
    if name == "memory_types" and _BULLET.search(old) and not _BULLET.search(new):
        raise RejectedTextError("the rewrite has no bullets, which facts are kept under")
