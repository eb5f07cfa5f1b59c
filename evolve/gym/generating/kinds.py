"""The kinds of state that all users of an environment have: what it is that can be remembered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve.gym.generating.author import Author, Step
from evolve.gym.generating.replies import as_list, as_object, as_text
from evolve.lm.json_text import FormatError

VALUES = 3  # of each kind, so that a question about two has nine choices
_NAME = re.compile(r"[^\W_]\w*")
_LONGEST_NAME, _LONGEST_VALUE, _LONGEST_MEANING = 60, 80, 300  # characters


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of state.

    Attributes:
        name: In one word, parts joined by underscores.
        meaning: In a sentence.
        values: ``VALUES`` of them, no two alike.
    """

    name: str
    meaning: str
    values: tuple[str, ...]


Kinds = tuple[Kind, ...]

_KINDS = Step(
    "states",
    "Write the kinds of state that matter to the people who talk with this assistant. Each kind is "
    "something about a person that\n"
    "- changes the advice that is right for that person,\n"
    f"- has exactly {VALUES} values, of which exactly one is true of a person at a time; a value "
    "is short, and plainly another one than its neighbours,\n"
    "- may have any of its values whatever the values of the other kinds are,\n"
    "- may change within a few months, and does not follow from who the person is, such as age, "
    "profession or home country,\n"
    "- can be let known in passing in a chat, without being named.\n"
    "Names are one word, of letters and digits with underscores between its parts. Cover different "
    "sides of life: no two kinds may be about the same thing.",
    '{"states": [{"name": "…", "meaning": "a sentence", "values": ["…", "…", "…"]}, …]}',
    "states",
)


def make_kinds(author: Author) -> Kinds:
    """Have the kinds of state of a domain written, once for all users.

    Raises:
        UnmendedError: They break a rule, however often they were mended.
    """
    material = {"how_many": author.brief.state_types}

    def faults(kinds: Kinds, tried: int) -> list[str]:
        return author.objections(_KINDS, material, listed(kinds), tried)

    return author.write(
        _KINDS, material, lambda value: read_kinds(value, author.brief.state_types), faults
    )


def read_kinds(value: object, count: int) -> Kinds:
    """Kinds as a model wrote them, or as ``listed`` gave them.

    Raises:
        FormatError: They are not ``count`` kinds, or one of them breaks a rule of form.
    """
    kinds = tuple(_kind(one) for one in as_list(value, "the states", count))
    names = [kind.name.casefold() for kind in kinds]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FormatError(f"two states have the name {twice[0]!r}")
    return kinds


def listed(kinds: Sequence[Kind]) -> list[dict[str, object]]:
    """Kinds as material of a step, and as they are kept."""
    return [
        {"name": kind.name, "meaning": kind.meaning, "values": list(kind.values)} for kind in kinds
    ]


def values_of(kinds: Sequence[Kind]) -> Mapping[str, tuple[str, ...]]:
    """Name of each kind to its values."""
    return {kind.name: kind.values for kind in kinds}


def _kind(value: object) -> Kind:
    found = as_object(value, "each state")
    name = as_text(found.get("name"), "the name of each state", _LONGEST_NAME)
    if not _NAME.fullmatch(name):
        raise FormatError(f"the name {name!r} must be one word of letters, digits and underscores")
    what = f"each value of {name}"
    listed_values = as_list(found.get("values"), f"the values of {name}", VALUES)
    values = tuple(as_text(one, what, _LONGEST_VALUE) for one in listed_values)
    if len({one.casefold() for one in values}) < VALUES:
        raise FormatError(f"two values of {name} are the same")
    meaning = as_text(found.get("meaning"), f"the meaning of {name}", _LONGEST_MEANING)
    return Kind(name, meaning, values)
