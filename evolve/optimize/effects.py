"""What settings have gained by themselves, as far as the candidates of a run tell.

Candidates are tried with the text of their time, and a run's later texts are better. Were they told
to a search by their accuracy, it would take the settings of early candidates for the cause. So each
is told by what its settings did: its difference to what it was compared with, less what its new
text, or its move to another architecture, may be expected to have done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from evolve.optimize.base import ProposalContext, Tried
from policies.policy import Policy
from policies.settings import SettingValue


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of some settings.

    Attributes:
        settings: All that apply.
        difference: In accuracy to the present parent.
        tokens: Per answer.
    """

    settings: Mapping[str, SettingValue]
    difference: float
    tokens: float


def told_of(context: ProposalContext) -> list[tuple[str, Told]]:
    """Architecture and what is known of settings: the parent's, then of all that were tried.

    Candidates with the settings of what they were compared with say nothing of them.
    """
    parent = context.parent
    policies = _policies(context)
    scored = [one for one in context.tried if _scored(one) and one.verdict.incumbent in policies]
    beside = _beside(scored, policies)
    gains: dict[str, float] = defaultdict(float)
    found = []
    for one in scored:
        incumbent, candidate = policies[one.verdict.incumbent], one.policy
        gains[candidate.id] = gains[incumbent.id]
        if candidate.settings == incumbent.settings:
            continue
        cause = _cause(candidate, incumbent)
        difference = _difference(one)
        gains[candidate.id] += difference - (beside.get(cause, 0.0) if cause else 0.0)
        found.append(one)
    own = (parent.architecture, Told(parent.settings, 0.0, tokens_of(context)))
    return [own] + [
        (
            one.policy.architecture,
            Told(
                one.policy.settings,
                gains[one.policy.id] - gains[parent.id],
                one.verdict.tokens_per_answer or 0.0,
            ),
        )
        for one in found
        if one.policy.id != parent.id
    ]


def known_settings(context: ProposalContext) -> list[Mapping[str, SettingValue]]:
    """The settings whose result with the parent's very text is known: the parent's own, too."""
    parent = context.parent
    same = [one.policy for one in context.tried if one.policy.texts == parent.texts]
    return [
        policy.settings
        for policy in (parent, *context.versions, *same)
        if policy.texts == parent.texts and policy.architecture == parent.architecture
    ]


def tokens_of(context: ProposalContext) -> float:
    """Tokens per answer of the parent."""
    for one in context.tried:
        if one.policy.id == context.parent.id and one.verdict.tokens_per_answer is not None:
            return one.verdict.tokens_per_answer
    return context.feedback.numbers.get("tokens_per_answer", 0.0)


def _policies(context: ProposalContext) -> dict[str, Policy]:
    """Every policy that a candidate may have been compared with, by its id."""
    tried = (one.policy for one in context.tried)
    return {policy.id: policy for policy in (*tried, *context.versions, context.parent)}


def _scored(one: Tried) -> bool:
    verdict = one.verdict
    known = verdict.heard_difference is not None or verdict.minibatch_difference is not None
    return known and verdict.tokens_per_answer is not None


def _difference(one: Tried) -> float:
    """In accuracy: as lived, else as heard, which says less but is known of more candidates."""
    lived = one.verdict.minibatch_difference
    return (one.verdict.heard_difference if lived is None else lived) or 0.0


def _cause(candidate: Policy, incumbent: Policy) -> str | None:
    """What may have made a difference beside the settings: a move, a new text, or nothing."""
    if candidate.architecture != incumbent.architecture:
        return candidate.architecture
    return None if candidate.texts == incumbent.texts else "text"


def _beside(scored: list[Tried], policies: Mapping[str, Policy]) -> dict[str, float]:
    """Cause to the mean difference of the candidates that show it best.

    Of texts these are the candidates that changed nothing else; of a move there are no such ones.
    """
    differences: dict[str, list[float]] = defaultdict(list)
    for one in scored:
        incumbent = policies[one.verdict.incumbent]
        cause = _cause(one.policy, incumbent)
        if cause == "text" and one.policy.settings != incumbent.settings:
            continue
        if cause is not None:
            differences[cause].append(_difference(one))
    return {cause: fsum(values) / len(values) for cause, values in differences.items()}
