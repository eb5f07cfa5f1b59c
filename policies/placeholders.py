"""The texts of each architecture and their placeholders: what must be there, and filling it in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from policies.declared import declared
from policies.errors import PolicyFileError
from policies.shown import short

_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}")

_PLAIN: Mapping[str, frozenset[str]] = {"reply_prompt": frozenset(), "answer_prompt": frozenset()}
_WITH_MEMORY = {text: frozenset({"memories"}) for text in _PLAIN}
_AGENTIC_WRITE = {
    "memory_types": frozenset[str](),
    "write_prompt": frozenset({"memory_types", "memories", "conversation"}),
    **_WITH_MEMORY,
}

TEXTS: Mapping[str, Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "none": _PLAIN,
        "native": _PLAIN,  # its memory is the history itself, shown as chat turns
        "rag": _WITH_MEMORY,
        "awe": _AGENTIC_WRITE,
        "awi": _AGENTIC_WRITE,
        # Its prompt shows memories and messages by itself; this text is its custom instructions.
        "mem0": {**_AGENTIC_WRITE, "write_prompt": frozenset({"memory_types"})},
    }
)
"""Built-in architecture to the texts that it has, in file order, and the placeholders of each."""


def names(text: str) -> tuple[str, ...]:
    """Names of the placeholders in a text, each once, in order of first appearance."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace every ``{{name}}`` by its value, in one pass.

    Braces that are no placeholder stay as they are, and a value that contains ``{{name}}`` itself
    is not filled again.

    Args:
        text: The text with placeholders.
        values: Name to value; names that the text does not use are ignored.

    Raises:
        KeyError: The text has a placeholder without a value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def texts_of(architecture: str) -> tuple[str, ...]:
    """Names of the texts that an architecture has, in file order.

    Raises:
        KeyError: No such architecture.
    """
    own = declared(architecture)
    return tuple(own.texts if own else TEXTS[architecture])


def required(architecture: str, text_name: str) -> frozenset[str]:
    """The placeholders that a text must have; it may have no others.

    Raises:
        KeyError: No such architecture, or it has no such text.
    """
    own = declared(architecture)
    return frozenset(names(own.texts[text_name])) if own else TEXTS[architecture][text_name]


def check_texts(architecture: str, texts: Mapping[str, object]) -> dict[str, str]:
    """Check texts from outside.

    Args:
        architecture: A known architecture.
        texts: Name to text, as read.

    Returns:
        Exactly the texts of the architecture, in file order.

    Raises:
        PolicyFileError: A text is missing, unknown, empty or no text, or a placeholder is missing
            or unknown.
    """
    expected = texts_of(architecture)
    for name in texts:
        if name not in expected:
            raise PolicyFileError(
                f"architecture {architecture} has no text {short(name)}; remove it (its texts:"
                f" {', '.join(expected)})"
            )
    for name in expected:
        if name not in texts:
            raise PolicyFileError(f"architecture {architecture} needs the text {name}; add it")
    return {name: _checked_text(architecture, name, texts[name]) for name in expected}


def _checked_text(architecture: str, name: str, text: object) -> str:
    if not isinstance(text, str):
        raise PolicyFileError(f"text {name} must be text, not {short(text)}; put it in quotes")
    if not text.strip():
        raise PolicyFileError(f"text {name} must not be empty; write it or copy that of the seed")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise PolicyFileError(f"text {name} holds half a character (a surrogate); remove it")
    needed, found = required(architecture, name), set(names(text))
    for placeholder in sorted(needed - found):
        raise PolicyFileError(
            f"text {name} must contain the placeholder {{{{{placeholder}}}}}, which is missing;"
            " put it where that part of the prompt belongs"
        )
    for placeholder in sorted(found - needed):
        allowed = ", ".join(f"{{{{{known}}}}}" for known in sorted(needed)) or "none"
        raise PolicyFileError(
            f"text {name} of architecture {architecture} has the unknown placeholder"
            f" {{{{{placeholder}}}}}; remove it (allowed: {allowed})"
        )
    return text
