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
_QUOTED = 40  # characters of a paragraph that is left out


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a policy says of writing, without what only its own prompt needs.

    Attributes:
        text: Paragraphs of the write prompt, and the types to remember.
        left_out: How the paragraphs begin that are missing, each in quotes.
        own: Whether anything of the write prompt is there but headings and the types.
    """

    text: str
    left_out: tuple[str, ...]
    own: bool

    def fate(self, where: str) -> Fate:
        """What became of the write prompt, which stands in a place of the export if anywhere."""
        if not self.own:
            return Fate("write_prompt", "lost", _NOTHING)
        count = len(self.left_out)
        without = f", without {count} paragraph{'s' * (count != 1)}" if count else ""
        return Fate("write_prompt", "carried", f"{where}{without}")


def write_instructions(policy: Policy) -> Instructions:
    """What is to be written down, and how, for a target that shows and stores in its own form.

    Paragraphs that show memories or the conversation, or that ask for a JSON object, are left out;
    the types to remember are always there. Where a sentence names them, words stand for what it
    names. Nothing, where no model writes.
    """
    if "write_prompt" not in policy.texts:
        return Instructions("", (), own=False)
    kept, left_out, listed, own = list[str](), list[str](), False, False
    prompt, types = policy.texts["write_prompt"], policy.texts["memory_types"].strip()
    if set(names(prompt)) == {"memory_types"}:  # it was written for such a target
        return Instructions(fill(prompt, {"memory_types": types}).strip(), (), own=True)
    for paragraph in paragraphs(prompt):
        used = set(names(paragraph))
        if _shows(paragraph) or form_of(paragraph):
            left_out.append(_quoted(paragraph))
            continue
        listed = listed or "memory_types" in used
        own = own or _has_own(paragraph)
        values = {"memory_types": types, **_SAID}
        kept.append(fill(paragraph, {name: values[name] for name in used}))
    if not listed:
        kept.append(f"{_TYPES}\n{types}")
    return Instructions("\n\n".join(kept), tuple(left_out), own)


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


def _quoted(paragraph: str) -> str:
    start = " ".join(paragraph.split())
    return f"'{start[:_QUOTED].rstrip()}…'" if len(start) > _QUOTED else f"'{start}'"
