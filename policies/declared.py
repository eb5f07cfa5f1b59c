"""Architectures that are not built in: what a memory system of one's own says of its policies.

They are declared once in a process, before a policy of theirs is read or made, and named like
``package:Class``. Nothing is imported here: whoever declares one has the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Declared:
    """What the policies of a declared architecture have.

    Attributes:
        texts: Name to the seed's text; its placeholders are those that every version must have.
        settings: Name to the seed's value, which is the default, too.
    """

    texts: Mapping[str, str]
    settings: Mapping[str, object]


_DECLARED: dict[str, Declared] = {}


def declare(name: str, declared: Declared) -> None:
    """Make an architecture known, or known anew, as where a notebook's cell is run again."""
    _DECLARED[name] = declared


def declared(name: str) -> Declared | None:
    """What was declared under a name, or None."""
    return _DECLARED.get(name)
