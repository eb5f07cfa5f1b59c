"""The dspy side of rewriting: what a model is asked, as Signatures and Modules of dspy.

Importing this module imports dspy; ``evolve.optimize.rewrite`` does so when it first rewrites. The
modules work with whatever ``dspy.LM`` is set, not with Mnemotune's models alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dspy

# Instructions are given by name: python -OO drops the docstrings that dspy would take them from.
_OBEY = " Follow the rules exactly; a text that breaks one is thrown away."
_REWRITE = """\
Rewrite one text of an assistant's memory policy so that fewer of the failures recur.

The feedback lists, worst first, what went wrong for users and where. Mend as many of the causes
as the text can mend, in general terms: the text will serve other users than those it tells of.
Keep what works. Where the feedback names many types of information, let the new text name them
all, as far as there is room: small steps are too slow."""
_JOINT = """\
Rewrite one text of an assistant's memory policy so that fewer of the failures recur, and so that
it suits the settings that will hold beside it.

Some settings change together with the text. Consider what they change in how much is read and
written at a time, what is kept and what is shown, and write the text for that. The feedback lists,
worst first, what went wrong for users and where, under the former settings. Mend as many of the
causes as the text can mend, in general terms. Keep what works."""
_SHARPEN = """\
Mend one type of information in a list of what an assistant's memory writes down.

The feedback tells how facts of this one type went missing. Add a bullet for it, or sharpen the
bullet that should have covered it, so that such facts of any user are written down and told apart
from others. Leave every other bullet as it is."""
_MERGE = """\
Merge two versions of one text of an assistant's memory policy into one that has both merits.

Both were found to serve users well. Start from the first, take over what the second adds, say
nothing twice, and mend what the feedback on the first still shows."""
_SIMPLIFY = """\
Shorten one text of an assistant's memory policy without making it serve users worse.

Say once what is said twice, join what belongs together, drop what changes nothing. Keep what the
feedback shows to be hard: what fails most needs its words."""
_REPAIR = """\
Repair a rewrite of one text of an assistant's memory policy that was tried and turned down.

The attempt was better than the current text for some users, but not clearly enough. You are told
for which types of information more answers went wrong with it, and for which fewer. Keep what made
the attempt better, take back or mend what made it worse, and go on where the feedback on the
current text still shows failures."""


class RewriteText(dspy.Signature):  # type: ignore[misc]  # dspy is untyped
    """Rewrite one text from what failed; asked in the words of ``_REWRITE``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey")
    current_text: str = dspy.InputField(desc="the text as it is")
    feedback: str = dspy.InputField(desc="failures that this text can mend")
    new_text: str = dspy.OutputField(desc="the whole new text and nothing else")


class RewriteForSettings(dspy.Signature):  # type: ignore[misc]
    """Rewrite one text for settings that change with it; asked in the words of ``_JOINT``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey")
    settings: str = dspy.InputField(desc="the settings that will hold beside the new text")
    current_text: str = dspy.InputField(desc="the text as it is")
    feedback: str = dspy.InputField(desc="failures that this text can mend")
    new_text: str = dspy.OutputField(desc="the whole new text and nothing else")


class SharpenType(dspy.Signature):  # type: ignore[misc]
    """Mend one type of a list; asked in the words of ``_SHARPEN``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey")
    current_text: str = dspy.InputField(desc="the list as it is")
    failing_type: str = dspy.InputField(desc="the type of information to mend")
    feedback: str = dspy.InputField(desc="how facts of this type went missing")
    new_text: str = dspy.OutputField(desc="the whole new list and nothing else")


class MergeTexts(dspy.Signature):  # type: ignore[misc]
    """Merge two versions of one text; asked in the words of ``_MERGE``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey")
    first_text: str = dspy.InputField(desc="the text as it is")
    second_text: str = dspy.InputField(desc="the other version")
    feedback: str = dspy.InputField(desc="failures of the first that this text can mend")
    new_text: str = dspy.OutputField(desc="the whole merged text and nothing else")


class SimplifyText(dspy.Signature):  # type: ignore[misc]
    """Shorten one text; asked in the words of ``_SIMPLIFY``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey, its length above all")
    current_text: str = dspy.InputField(desc="the text as it is")
    still_failing: str = dspy.InputField(desc="what goes wrong with the text as it is")
    new_text: str = dspy.OutputField(desc="the whole shorter text and nothing else")


class RepairText(dspy.Signature):  # type: ignore[misc]
    """Repair a rewrite that was turned down; asked in the words of ``_REPAIR``."""

    purpose: str = dspy.InputField(desc="the text's name, and what it is for")
    rules: str = dspy.InputField(desc="what the new text must obey")
    current_text: str = dspy.InputField(desc="the text as it is")
    attempt: str = dspy.InputField(desc="the rewrite that was turned down")
    changes: str = dspy.InputField(desc="what the attempt made worse and better, and why it fell")
    feedback: str = dspy.InputField(desc="failures of the current text that it can mend")
    new_text: str = dspy.OutputField(desc="the whole new text and nothing else")


class Rewriter(dspy.Module):  # type: ignore[misc]
    """Rewrites one text from its feedback.

    Args:
        examples: Fields of earlier rewrites that were accepted.
    """

    def __init__(self, examples: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__()
        self.predict = dspy.Predict(RewriteText.with_instructions(_REWRITE + _OBEY))
        self.predict.demos = _demos(examples)

    def forward(self, **fields: str) -> dspy.Prediction:
        """A prediction with ``new_text`` from the fields of ``RewriteText``."""
        return self.predict(**fields)


class JointRewriter(dspy.Module):  # type: ignore[misc]
    """Rewrites one text for settings that change together with it.

    Args:
        examples: Fields of earlier rewrites that were accepted, whatever their settings.
    """

    def __init__(self, examples: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__()
        self.predict = dspy.Predict(RewriteForSettings.with_instructions(_JOINT + _OBEY))
        self.predict.demos = _demos(examples)

    def forward(self, **fields: str) -> dspy.Prediction:
        """A prediction with ``new_text`` from the fields of ``RewriteForSettings``."""
        return self.predict(**fields)


class Sharpener(dspy.Module):  # type: ignore[misc]
    """Adds or sharpens one remembered type."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(SharpenType.with_instructions(_SHARPEN + _OBEY))

    def forward(self, **fields: str) -> dspy.Prediction:
        """A prediction with ``new_text`` from the fields of ``SharpenType``."""
        return self.predict(**fields)


class Merger(dspy.Module):  # type: ignore[misc]
    """Merges two versions of one text."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(MergeTexts.with_instructions(_MERGE + _OBEY))

    def forward(self, **fields: str) -> dspy.Prediction:
        """A prediction with ``new_text`` from the fields of ``MergeTexts``."""
        return self.predict(**fields)


class Simplifier(dspy.Module):  # type: ignore[misc]
    """Shortens one text."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(SimplifyText.with_instructions(_SIMPLIFY + _OBEY))

    def forward(self, **fields: str) -> dspy.Prediction:
        """A prediction with ``new_text`` from the fields of ``SimplifyText``."""
        return self.predict(**fields)


class Repairer(dspy.Module):  # type: ignore[misc]
    """Repairs a rewrite that was turned down at the gate."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(RepairText.with_instructions(_REPAIR + _OBEY))

    def forward(self, **fields: str) -> dspy.Prediction:
        """A prediction with ``new_text`` from the fields of ``RepairText``."""
        return self.predict(**fields)


def _demos(examples: Sequence[Mapping[str, str]]) -> list[dspy.Example]:
    return [dspy.Example(**fields) for fields in examples]
