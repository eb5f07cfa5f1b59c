"""The dspy side of self-evolution: how a model is asked for a better list of remembered types.

Importing this module imports dspy; ``evolve.optimize.types_proposer`` does so when it first asks.
"""

from __future__ import annotations

import dspy

# Given by name: python -OO drops the docstring that dspy would take it from.
_INSTRUCTIONS = """\
Improve the list of types of information that an assistant writes down about its user.

The list decides what is remembered of a conversation. Going by the feedback, make its types more
specific, add what is missing, and say of each plainly what is to be noted."""


class RewriteTypes(dspy.Signature):  # type: ignore[misc]  # dspy is untyped
    """Improve a list of remembered types; asked in the words of ``_INSTRUCTIONS``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    current_text: str = dspy.InputField(desc="the list as it is")
    feedback: str = dspy.InputField(desc="how the assistant fared with it")
    new_text: str = dspy.OutputField(desc="the whole new list, one type per bullet")


class TypesRewriter(dspy.Module):  # type: ignore[misc]
    """Rewrites a list of remembered types."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(RewriteTypes.with_instructions(_INSTRUCTIONS))

    def forward(self, current_text: str, feedback: str) -> dspy.Prediction:
        """A prediction with ``new_text``."""
        return self.predict(
            purpose="memory_types: the types of information that are written down about the user",
            current_text=current_text,
            feedback=feedback,
        )
