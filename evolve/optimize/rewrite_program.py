"""The dspy side of rewriting: what a model is asked, as Signatures and Modules of dspy.

Importing this module imports dspy; ``evolve.optimize.rewrite`` does so when it first rewrites. The
modules work with whatever ``dspy.LM`` is set, not with Mnemotune's models alone.
"""

from __future__ import annotations

import dspy

# Instructions are given by name: python -OO drops the docstrings that dspy would take them from.
_REWRITE = """\
Rewrite one text of an assistant's memory policy so that fewer of the failures recur.

The feedback lists, worst first, what went wrong for users and where. Mend as many of the causes
as the text can mend, in general terms: the text will serve other users than those it tells of.
Keep what works. Follow the rules exactly; a text that breaks one is thrown away."""
_MERGE = """\
Merge two versions of one text of an assistant's memory policy into one that has both merits.

Both were found to serve users well. Start from the first, take over what the second adds, say
nothing twice, and mend what the feedback on the first still shows. Follow the rules exactly; a
text that breaks one is thrown away."""


class RewriteText(dspy.Signature):  # type: ignore[misc]  # dspy is untyped
    """Rewrite one text from what failed; asked in the words of ``_REWRITE``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey")
    current_text: str = dspy.InputField(desc="the text as it is")
    feedback: str = dspy.InputField(desc="failures that this text can mend")
    new_text: str = dspy.OutputField(desc="the whole new text and nothing else")


class MergeTexts(dspy.Signature):  # type: ignore[misc]
    """Merge two versions of one text; asked in the words of ``_MERGE``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey")
    first_text: str = dspy.InputField(desc="the text as it is")
    second_text: str = dspy.InputField(desc="the other version")
    feedback: str = dspy.InputField(desc="failures of the first that this text can mend")
    new_text: str = dspy.OutputField(desc="the whole merged text and nothing else")


class Rewriter(dspy.Module):  # type: ignore[misc]
    """Rewrites one text from its feedback."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(RewriteText.with_instructions(_REWRITE))

    def forward(
        self, purpose: str, rules: str, current_text: str, feedback: str
    ) -> dspy.Prediction:
        """A prediction with ``new_text``."""
        return self.predict(
            purpose=purpose, rules=rules, current_text=current_text, feedback=feedback
        )


class Merger(dspy.Module):  # type: ignore[misc]
    """Merges two versions of one text."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(MergeTexts.with_instructions(_MERGE))

    def forward(
        self, purpose: str, rules: str, first_text: str, second_text: str, feedback: str
    ) -> dspy.Prediction:
        """A prediction with ``new_text``."""
        return self.predict(
            purpose=purpose,
            rules=rules,
            first_text=first_text,
            second_text=second_text,
            feedback=feedback,
        )
