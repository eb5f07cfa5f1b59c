"""Merging two versions: with which other one, and what can be taken over as it stands."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from evolve.optimize.base import ProposalContext
from policies.policy import Policy
from policies.settings import SettingValue

_LEAST = 0.02  # chance of a partner that is nowhere better, beside mean gains in accuracy


@dataclass(frozen=True, slots=True)
class Partner:
    """A version that the parent can be merged with.

    Attributes:
        policy: The version.
        taken: Texts that only it has changed since both were one: taken over as they are.
        mixed: Names of texts that both have changed since: to be merged by the rewriter.
        settings: That only it has changed since.
    """

    policy: Policy
    taken: Mapping[str, str]
    mixed: tuple[str, ...]
    settings: Mapping[str, SettingValue]


def partners(context: ProposalContext) -> list[Partner]:
    """Versions with lines that the parent's texts lack; none with fewer than two others.

    Left out are ancestors' texts, which offer nothing but what was already left behind, and
    versions that the parent was merged with before.
    """
    parent = context.parent
    others = [
        v for v in context.versions if v.id != parent.id and v.architecture == parent.architecture
    ]
    if len(others) < 2:
        return []
    own, merged = _ancestry(context, parent), _merged_with(context)
    left = {(name, text) for v in own for name, text in v.texts.items()}
    found = []
    for other in others:
        names = [
            name
            for name, text in other.texts.items()
            if (name, text) not in left and _lines(text) - _lines(parent.texts[name])
        ]
        if names and other.id not in merged:
            found.append(_partner(context, own, other, names))
    return found


def draw_partner(context: ProposalContext, found: list[Partner], draw: random.Random) -> Partner:
    """One of the partners: the more it is better on some train users, the likelier."""
    mine = context.strengths.get(context.parent.id, {})
    weights = []
    for partner in found:
        theirs = context.strengths.get(partner.policy.id, {})
        gains = [max(0.0, theirs[user] - mine[user]) for user in theirs if user in mine]
        weights.append(_LEAST + (sum(gains) / len(gains) if gains else 0.0))
    return draw.choices(found, weights)[0]


def _partner(
    context: ProposalContext, own: list[Policy], other: Policy, names: list[str]
) -> Partner:
    parent, theirs = context.parent, {v.id for v in _ancestry(context, other)}
    shared = [v for v in context.versions if v.id in theirs and v in own]
    origin = shared[-1] if shared else context.versions[0]
    alone = [n for n in names if parent.texts[n] == origin.texts.get(n)]
    settings = {
        name: value
        for name, value in other.settings.items()
        if value != parent.settings[name] and parent.settings[name] == origin.settings.get(name)
    }
    return Partner(
        other,
        {name: other.texts[name] for name in alone},
        tuple(name for name in names if name not in alone),
        settings,
    )


def _merged_with(context: ProposalContext) -> set[str]:
    """Versions that the parent was merged with in candidates that were scored."""
    return {
        tried.policy.lineage.parents[1]
        for tried in context.tried
        if tried.parent.id == context.parent.id and len(tried.policy.lineage.parents) > 1
    }


def _ancestry(context: ProposalContext, policy: Policy) -> list[Policy]:
    """A policy and its ancestors among the versions."""
    known = {version.id: version for version in context.versions}
    found, waiting = {policy.id: policy}, [policy]
    while waiting:
        for one in waiting.pop().lineage.parents:
            if one in known and one not in found:
                found[one] = known[one]
                waiting.append(known[one])
    return list(found.values())


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.split("\n")}
