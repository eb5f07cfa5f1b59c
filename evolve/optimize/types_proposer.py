"""The proposer of self-evolution: a model rewrites the list of remembered types, and no more.

Its authors put no rules on what the model may write. So none of ``policies.text_rules`` apply here:
whatever makes a policy is proposed.
"""

from __future__ import annotations

from evolve.lm.base import LM
from evolve.optimize.base import Proposal, ProposalContext, RejectedRewriteError, Verdict
from evolve.seeding import derive
from policies.errors import RejectedTextError

OPERATOR = "self-evolution:memory_types"
_TEXT = "memory_types"
_NOTHING = "No failure was blamed on this list."


class TypesProposer:
    """Rewrites the list of remembered types from the feedback addressed to it.

    Args:
        lm: The rewriter, through a dspy engine.
    """

    def __init__(self, lm: LM) -> None:
        self._lm = lm

    def propose(self, context: ProposalContext) -> Proposal:
        """Rewrite the list.

        Raises:
            RejectedRewriteError: The reply could not be read.
            MnemotuneError: The model failed.
        """
        feedback, old = context.feedback.texts.get(_TEXT, ""), context.parent.texts[_TEXT]
        try:
            new = rewrite_types(self._lm, derive(context.seed, OPERATOR), old, feedback)
        except RejectedTextError as error:
            raise RejectedRewriteError(str(error), Proposal(OPERATOR)) from error
        return Proposal(OPERATOR, {_TEXT: new})

    def observe(self, verdict: Verdict) -> None:
        """Learn nothing: what is installed is all that it goes by."""


def rewrite_types(lm: LM, seed: int, old: str, feedback: str) -> str:
    """A better list of types, whatever it may be, with the white space at the ends of the old one.

    Args:
        lm: The rewriter.
        seed: Of its call.
        old: The list as it is.
        feedback: How the assistant fared with it.

    Raises:
        RejectedTextError: The reply could not be read.
        MnemotuneError: The model failed.
    """
    from evolve.lm.dspy_lm import ask
    from evolve.optimize.types_program import TypesRewriter

    said = feedback.strip() or _NOTHING

    def program() -> str | None:
        text: str | None = TypesRewriter()(current_text=old, feedback=said).new_text
        return text

    new = (ask(lm, seed, program) or "").strip()
    return new and old[: len(old) - len(old.lstrip())] + new + old[len(old.rstrip()) :]
