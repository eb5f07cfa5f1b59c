"""Placeholders of prompts from elsewhere: in which style they are written, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_STYLES: Mapping[str, re.Pattern[str]] = {
    "{{name}}": re.compile(r"\{\{-?\s*([A-Za-z_][A-Za-z0-9_.]*)\s*-?\}\}"),
    "${name}": re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}"),
    "%(name)s": re.compile(r"%\(([A-Za-z_][A-Za-z0-9_]*)\)s"),
    "{name}": re.compile(r"(?<![{$])\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})"),
}
"""How placeholders are written: Jinja and Mustache, shell, old and new formatting of Python."""

_MEANINGS: Mapping[str, frozenset[str]] = {
    meaning: frozenset(names.split())
    for meaning, names in {
        "memories": "memories memory current_memories existing_memories relevant_memories "
        "retrieved_memories user_memories past_memories old_memories memory_context context notes "
        "facts known_facts existing_facts user_profile profile knowledge passages documents",
        "conversation": "conversation messages new_messages dialogue dialog chat transcript "
        "conversation_history chat_history history turns recent_messages parsed_messages",
        "memory_types": "memory_types types info_types memory_types_section categories topics",
        "message": "message user_message new_message recent_message query question "
        "user_input user_query input text prompt",
    }.items()
}
"""What a name stands for: what is remembered, what was said, what to remember, what is asked."""

_LISTED = frozenset({"memory_types"})
"""Meanings that only a plural has: a ``{topic}`` is one thing to speak of, no list to remember."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A placeholder as it was found.

    Attributes:
        written: With its braces.
        name: Without them.
        meaning: ``memories``, ``conversation``, ``memory_types``, ``message``; None if unknown.
    """

    written: str
    name: str
    meaning: str | None


def find_placeholders(text: str) -> tuple[str, tuple[Placeholder, ...]]:
    """The style of a prompt's placeholders, and each of them once, in order.

    The style is the one that names the most things that are known; a text has one only, as
    elsewhere its braces are only braces. Where nothing is known, doubled braces and the two other
    telling styles count, single braces do not.
    """
    by_style = {style: _in_style(text, pattern) for style, pattern in _STYLES.items()}
    known = {
        style: sum(one.meaning is not None for one in found) for style, found in by_style.items()
    }
    best = max(by_style, key=lambda style: known[style])
    if known[best]:
        return best, by_style[best]
    for style in ("{{name}}", "${name}", "%(name)s"):
        if by_style[style]:
            return style, by_style[style]
    return "", ()


def rewritten(text: str, style: str, put: Callable[[str], str]) -> str:
    """A text with every placeholder of a style replaced, and what the style escapes as it is meant.

    Args:
        text: The prompt.
        style: Of its placeholders; empty for none.
        put: Name to what stands there instead.
    """
    if not style:
        return text
    pieces, end = [], 0
    for match in _STYLES[style].finditer(text):
        pieces += [_unescaped(text[end : match.start()], style), put(match[1])]
        end = match.end()
    return "".join([*pieces, _unescaped(text[end:], style)])


def _unescaped(text: str, style: str) -> str:
    if style == "{name}":
        return text.replace("{{", "{").replace("}}", "}")
    return text.replace("%%", "%") if style == "%(name)s" else text


def _in_style(text: str, pattern: re.Pattern[str]) -> tuple[Placeholder, ...]:
    found: dict[str, str] = {}
    for match in pattern.finditer(text):
        found.setdefault(match[1], match[0])
    return tuple(Placeholder(written, name, _meaning(name)) for name, written in found.items())


def _meaning(name: str) -> str | None:
    """What a name stands for: as it is, else in the other number (existing_memory as memories)."""
    plain = name.lower().rsplit(".", 1)[-1]
    exact = next((meaning for meaning, names in _MEANINGS.items() if plain in names), None)
    return exact or _IN_SINGULAR.get(_singular(plain))


def _singular(name: str) -> str:
    """A name with its last word in the singular, as English mostly forms it."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


_IN_SINGULAR: Mapping[str, str] = {
    _singular(name): meaning
    for meaning, names in _MEANINGS.items()
    if meaning not in _LISTED
    for name in names
}
