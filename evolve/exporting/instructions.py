"""The prompts of a policy for systems that lay out memories and replies in their own way."""

from __future__ import annotations

import re
from dataclasses import dataclass

from policies.placeholders import fill, names
from policies.policy import Policy
from policies.text_form import form_of

_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+")
_TYPES = "Types of information to write down:"
_QUOTED = 40  # characters of a paragraph that is left out


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a policy says of writing, without what only its own prompt needs.

    Attributes:
        text: Paragraphs of the write prompt, and the types to remember.
        left_out: How the paragraphs begin that are missing, each in quotes.
    """

    text: str
    left_out: tuple[str, ...]

    @property
    def fate(self) -> str:
        """How much of the write prompt is there, to follow where it is."""
        count = len(self.left_out)
        return f", without {count} paragraph{'s' * (count != 1)}" if count else ""


def write_instructions(policy: Policy) -> Instructions:
    """What is to be written down, and how, for a target that shows and stores in its own form.

    Paragraphs that show memories or the conversation, or that ask for a JSON object, are left out;
    the types to remember are always there. Nothing, where no model writes.
    """
    if "write_prompt" not in policy.texts:
        return Instructions("", ())
    kept, left_out, listed = list[str](), list[str](), False
    prompt, types = policy.texts["write_prompt"], policy.texts["memory_types"].strip()
    if set(names(prompt)) == {"memory_types"}:  # it was written for such a target
        return Instructions(fill(prompt, {"memory_types": types}).strip(), ())
    for paragraph in paragraphs(prompt):
        used = set(names(paragraph))
        if used - {"memory_types"} or form_of(paragraph):
            left_out.append(_quoted(paragraph))
            continue
        listed = listed or bool(used)
        kept.append(fill(paragraph, {"memory_types": types}))
    if not listed:
        kept.append(f"{_TYPES}\n{types}")
    return Instructions("\n\n".join(kept), tuple(left_out))


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, without blank lines."""
    return [one for one in _PARAGRAPH.split(text.strip()) if one]


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


def _quoted(paragraph: str) -> str:
    start = " ".join(paragraph.split())
    return f"'{start[:_QUOTED].rstrip()}…'" if len(start) > _QUOTED else f"'{start}'"
