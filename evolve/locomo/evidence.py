"""Evidence strings as LoCoMo really writes them: read where they can be, told where they cannot."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evolve.gym.checked import shown

_TURN = re.compile(r"D:?\s*(\d{1,6})\s*:\s*(\d{1,6})")
_BETWEEN = re.compile(r"[\s;,]+")


@dataclass(frozen=True, slots=True)
class Odd:
    """A string that is not simply the id of a turn: what it is, what became of it."""

    found: str
    told: str
    read: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one question.

    Attributes:
        turns: Ids of turns of the dialogue, each once, in the order in which they are named.
        odd: What is not simply the id of one of them.
    """

    turns: tuple[str, ...]
    odd: tuple[Odd, ...]


def read_evidence(found: object, known: Collection[str]) -> Evidence:
    """Read the evidence of a question.

    Read are ``D3:12`` as it is, ``D:3:12`` and ``D03:12`` as the same, and several of these in one
    string with spaces, commas or semicolons between them.

    Args:
        found: What the file has: a list of strings, or one alone.
        known: Ids of the dialogue's turns.
    """
    turns: dict[str, None] = {}
    odd = []
    for item in found if isinstance(found, list) else [found]:
        if isinstance(item, str) and item in known:
            turns[item] = None
            continue
        named = _turns_in(item)
        turns |= dict.fromkeys(turn for turn in named if turn in known)
        odd.append(_odd(item, named, known))
    return Evidence(tuple(turns), tuple(odd))


def _turns_in(item: object) -> list[str]:
    if not isinstance(item, str):
        return []
    return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN.findall(item)]


def _odd(item: object, named: Sequence[str], known: Collection[str]) -> Odd:
    """What is told of an item that names these turns, in whatever way."""
    if not isinstance(item, str):
        return Odd(shown(item), "cannot be read", read=False)
    there = [turn for turn in named if turn in known]
    missing = [turn for turn in named if turn not in known]
    rest = _BETWEEN.sub("", _TURN.sub("", item))
    told = []
    if there:
        told.append(f"read as {', '.join(there)}")
    if missing:
        told.append(f"the dialogue has no turn {', '.join(missing)}")
    if rest:
        told.append(f"{shown(rest)} cannot be read" if named else "cannot be read")
    whole = bool(there) and not missing and not rest
    return Odd(item, "; ".join(told) or "is empty", whole)
