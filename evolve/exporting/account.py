"""What became of each part of a policy in an export, on the screen and in the file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evolve.exporting.origin import Origin
from evolve.tables import Table
from policies.declared import declared
from policies.policy import Policy
from policies.settings import as_text

How = Literal["carried", "words", "yours", "lost", "added"]
_SHOWN: Mapping[How, str] = {
    "carried": "carried over",
    "words": "asked for in words",
    "yours": "left to your code",
    "lost": "not expressed",
    "added": "set beside the policy",
}
ARCHITECTURE = "architecture"
OWN_CLASS = "a memory system of your own: its class stays code of yours, and is not in the file"
"""What becomes of an architecture that is a class, wherever it goes."""

SIGN = "Mnemotune policy "
"""How the comment of an export begins, by which it is known again."""

_QUOTED = 40  # characters of a paragraph that are on the screen


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one part of a policy.

    Attributes:
        part: ``architecture``, or the name of a text or a setting; if ``added``, of the target's.
        how: ``carried``: the target does it; ``words``: a model is told to do it, and may not;
            ``yours``: the file says it, and the code around the target must do it; ``lost``: the
            target cannot express it; ``added``: the file sets what the policy does not say.
        where: Where it stands in the export, what to do, or why it is not there.
    """

    part: str
    how: How
    where: str


@dataclass(frozen=True, slots=True)
class Export:
    """A policy as a target takes it.

    Attributes:
        text: The whole file.
        fates: One of each part of the policy, in the order of its file, then what is added.
        to_do: What has to be filled in by hand, a sentence each.
        left_out: Paragraphs of the write prompt that are not in it, whole.
    """

    text: str
    fates: tuple[Fate, ...]
    to_do: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def settled(policy: Policy, told: Iterable[Fate], otherwise: str) -> tuple[Fate, ...]:
    """One fate of each part of a policy, in the order of its file, then what is added.

    Args:
        policy: Whose parts are accounted for.
        told: What a format says of them; what it says of parts that this policy lacks is dropped.
        otherwise: Why parts of which it says nothing are lost.
    """
    known = {fate.part: fate for fate in told}
    if declared(policy.architecture):
        known[ARCHITECTURE] = Fate(ARCHITECTURE, "yours", OWN_CLASS)
    parts = (ARCHITECTURE, *policy.texts, *policy.settings)
    added = (fate for fate in known.values() if fate.how == "added")
    return (*(known.get(part, Fate(part, "lost", otherwise)) for part in parts), *added)


def notes(
    policy: Policy, origin: Origin, fates: Iterable[Fate], left_out: Sequence[str] = ()
) -> dict[str, object]:
    """What an export says of itself in its file: JSON-able.

    Args:
        policy: What is exported.
        origin: What it was tuned to.
        fates: Of its parts.
        left_out: Paragraphs that are left out.
    """
    by_how: dict[How, dict[str, str]] = {how: {} for how in _SHOWN}
    for fate in fates:
        by_how[fate.how][_named(policy, fate.part)] = fate.where
    return {
        "policy": policy.id,
        "name": policy.name,
        "tuned_to": origin.sentence,
        **{_SHOWN[how].replace(" ", "_"): parts for how, parts in by_how.items() if parts},
        **({"paragraphs_left_out": list(left_out)} if left_out else {}),
    }


def json_file(content: Mapping[str, object]) -> str:
    """The text of a JSON file that people can read, too."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def comment(
    policy: Policy, origin: Origin, fates: Iterable[Fate], left_out: Sequence[str] = ()
) -> list[str]:
    """The same as lines of text, for files that are no JSON."""
    lines = [f"{SIGN}{policy.id} ({policy.name}): {origin.sentence}"]
    lines += [
        f"{_SHOWN[fate.how]}: {_named(policy, fate.part)}: {fate.where}"
        for fate in fates
        if fate.how != "carried"
    ]
    return [*lines, *(f"paragraph left out: '{_one_line(one)}'" for one in left_out)]


def table(policy: Policy, format_name: str, fates: Iterable[Fate]) -> Table:
    """The same on the screen."""
    rows = tuple((_named(policy, f.part), _SHOWN[f.how], f.where) for f in fates)
    title = f"{policy.name} ({policy.short_id}) as {format_name}"
    return Table(title, ("part", "what becomes of it", "where, or why"), rows, left=3)


def beginning(paragraph: str) -> str:
    """How a paragraph begins, in quotes, for the screen."""
    text = _one_line(paragraph)
    return f"'{text[:_QUOTED].rstrip()}…'" if len(text) > _QUOTED else f"'{text}'"


def _one_line(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _named(policy: Policy, part: str) -> str:
    """A part with its value, where that is short."""
    if part == ARCHITECTURE:
        return f"{part} {policy.architecture}"
    return f"{part} {as_text(policy.settings[part])}" if part in policy.settings else part
