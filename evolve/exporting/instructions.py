"""The prompts of a policy for systems that lay out memories and replies in their own way."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evolve.exporting.account import Fate
from policies.placeholders import fill, names
from policies.policy import Policy
from policies.text_form import form_of
from policies.words import words

_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+")
_TYPES = "Types of information to write down:"
_NOTHING = "each paragraph of it shows memories or what was said, or asks for a JSON object"
_SAID = {"memories": "the notes so far", "conversation": "the conversation"}
_LEAST = 3  # words beside a placeholder that make it part of a sentence
_POINTER = re.compile(r"\b(conversation|messages|notes)\s+(?:at\s+the\s+end|below|above)\b")


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a policy says of writing, without what only its own prompt needs.

    Attributes:
        text: Paragraphs of the write prompt, and the types to remember.
        left_out: The paragraphs that are missing.
        own: Whether anything of the write prompt is there but headings and the types.
        pointed: Whether words that said where a missing paragraph stands are missing, too.
    """

    text: str = ""
    left_out: tuple[str, ...] = ()
    own: bool = False
    pointed: bool = False

    def fate(self, where: str) -> Fate:
        """What became of the write prompt, which stands in a place of the export if anywhere."""
        if not self.own:
            return Fate("write_prompt", "lost", _NOTHING)
        count = len(self.left_out)
        without = f", without {count} paragraph{'s' * (count != 1)}" if count else ""
        if self.pointed:
            without += " and the words that point there"
        return Fate("write_prompt", "carried", f"{where}{without}")

    def types_fate(self, where: str) -> Fate:
        """What became of the types to remember."""
        if self.text:
            return Fate("memory_types", "carried", where)
        return Fate("memory_types", "lost", "no prompt of the policy has a model write by them")


def write_instructions(policy: Policy) -> Instructions:
    """What is to be written down, and how, for a target that shows and stores in its own form.

    Paragraphs that show memories or the conversation, or that ask for a JSON object, are left out;
    the types to remember are always there. Where a sentence names them, words stand for what it
    names; where it says that they stand below, it does no more. Nothing, where no model writes.
    """
    if "write_prompt" not in policy.texts:
        return Instructions()
    prompt, types = policy.texts["write_prompt"], policy.texts.get("memory_types", "").strip()
    if set(names(prompt)) == {"memory_types"}:  # it was written for such a target
        return Instructions(fill(prompt, {"memory_types": types}).strip(), own=True)
    parts = paragraphs(prompt)
    left_out = tuple(one for one in parts if _shows(one) or form_of(one))
    staying = [one for one in parts if one not in left_out]
    kept = [_POINTER.sub(r"\1", one) if left_out else one for one in staying]
    text = "\n\n".join(in_words(one, memory_types=types) for one in kept)
    if types and not any("memory_types" in names(one) for one in kept):
        text = f"{text}\n\n{_TYPES}\n{types}".strip()
    return Instructions(text, left_out, any(map(_has_own, kept)), pointed=kept != staying)


def in_words(text: str, **values: str) -> str:
    """A text whose placeholders are filled, those without a value by what they name."""
    return fill(text, {name: f"the {name}" for name in names(text)} | _SAID | values)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, without blank lines."""
    return [one for one in _PARAGRAPH.split(text.strip()) if one]


def heading_of(paragraph: str, name: str) -> str | None:
    """What stands above what a paragraph shows; None where it says more than a heading.

    Args:
        paragraph: The paragraph.
        name: Of the one placeholder that it must have.
    """
    if names(paragraph) != (name,):
        return None
    rest = fill(paragraph, {name: ""}).strip()
    return rest if not rest or (rest.endswith(":") and "\n" not in rest) else None


def items(types: str) -> list[str]:
    """The entries of a list of types, without their bullets; lines that go on are joined."""
    found: list[str] = []
    for line in types.splitlines():
        if not line.strip():
            continue
        if _BULLET.match(line) or not found:
            found.append(_BULLET.sub("", line).strip())
        else:
            found[-1] = f"{found[-1]} {line.strip()}"
    return found


def _shows(paragraph: str) -> bool:
    """Whether memories or the conversation are shown in it, and not named in a sentence."""
    for line in paragraph.splitlines():
        if set(names(line)) - {"memory_types"}:
            rest = fill(line, dict.fromkeys(names(line), "")).strip()
            if rest.endswith(":") or len(words(rest)) < _LEAST:
                return True
    return False


def _has_own(paragraph: str) -> bool:
    """Whether it says anything but a heading and the types."""
    lines = fill(paragraph, dict.fromkeys(names(paragraph), "")).splitlines()
    return any(words(line) and not line.rstrip().endswith(":") for line in lines)
