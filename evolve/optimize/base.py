"""What passes between the loop and the proposers: context in, proposal out, verdict back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from evolve.optimize.constraints import NO_LIMITS, Constraints
from feedback.digest import Feedback
from policies.errors import RejectedTextError
from policies.policy import Policy

SettingValue = int | str | bool | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a candidate.

    Attributes:
        candidate: Id of the candidate; equal to the incumbent's where nothing was changed.
        incumbent: Id of the policy that it was, or would have been, compared with: its parent, or
            a version accepted earlier in the same generation.
        settings: The candidate's settings.
        operator: What proposed it.
        accepted: Whether it became a version.
        stage: Where it was decided: ``text``, ``duplicate``, ``limit`` (too large a memory) or
            ``budget`` (never scored); ``screen`` (heard off-policy, and not chosen); ``failed`` (by
            its own fault), ``tokens`` (per answer: over the limit, or nearer to it than an
            incumbent over it), ``minibatch``, ``level`` (past the minibatch, but none of the run's
            level was left), ``chance`` (past it, but too little for the gate), ``gate``;
            ``validation`` where that alone decides.
        reason: One sentence.
        minibatch_difference: Mean paired difference in accuracy to the incumbent on the minibatch.
        tokens_per_answer: On the minibatch, or as estimated where it was heard; None if neither.
        heard_difference: In accuracy to its parent where it was heard off-policy and not chosen.
    """

    candidate: str
    incumbent: str
    settings: Mapping[str, SettingValue]
    operator: str
    accepted: bool
    stage: str
    reason: str
    minibatch_difference: float | None = None
    tokens_per_answer: float | None = None
    heard_difference: float | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate of this run that was scored or heard, for later proposals to learn from.

    Attributes:
        policy: The candidate.
        parent: What it was made from.
        verdict: What became of it.
        feedback: What it was made from, too.
        changes: State to the number of wrong answers blamed on it, the candidate's less its
            incumbent's, on minibatch users alone: what happens at the gate is not told. Empty where
            it was only heard.
    """

    policy: Policy
    parent: Policy
    verdict: Verdict
    feedback: Feedback
    changes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ProposalContext:
    """What a proposer may look at.

    Attributes:
        parent: The policy to improve.
        versions: All accepted versions, seed first.
        feedback: What the parent's train rollouts say.
        last_verdict: What became of the previous candidate.
        seed: For this proposal; from run seed and proposal number.
        spent: Share of what candidates may cost that is spent, in 0..1.
        constraints: Limits that a candidate must keep.
        tried: All candidates that were scored or heard, in order.
        strengths: Version to train user to its accuracy there in 0..1, as far as it is known.
    """

    parent: Policy
    versions: tuple[Policy, ...]
    feedback: Feedback
    last_verdict: Verdict | None
    seed: int
    spent: float = 0.0
    constraints: Constraints = NO_LIMITS
    tried: tuple[Tried, ...] = ()
    strengths: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes to the parent: only what differs; both empty means that nothing was found.

    Attributes:
        operator: Its name in the lineage, such as ``rewrite:memory_types+search``.
        texts: Name of the text to its new content.
        settings: Name of the setting to its new value.
        merged: Id of the second parent, where two were merged.
        architecture: Where it is another than the parent's: texts and settings then are changes to
            what the parent becomes by that move.
    """

    operator: str
    texts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    merged: str | None = None
    architecture: str | None = None


def unscored(policy: Policy, parent: Policy, stage: str, reason: str) -> Verdict:
    """A verdict on a candidate of which no rollout says anything."""
    operator = policy.lineage.operator
    return Verdict(policy.id, parent.id, policy.settings, operator, False, stage, reason)


class RejectedRewriteError(RejectedTextError):
    """A rewrite that breaks a rule, with the proposal that it would have been.

    Attributes:
        proposal: Its operator, and its text if the reply had one.
    """

    def __init__(self, reason: str, proposal: Proposal) -> None:
        super().__init__(reason)
        self.proposal = proposal


class Proposer(Protocol):
    """Something that proposes changes to a policy.

    ``propose`` is called once per candidate and must depend on its context and on what was observed
    alone, so that a resumed run, which replays ``observe`` for every journaled verdict and calls
    ``propose`` only for new candidates, proposes the same. It raises ``RejectedRewriteError`` where
    a rewrite breaks a rule (recorded as a rejected candidate) and lets the LM's errors pass.
    """

    def propose(self, context: ProposalContext) -> Proposal:
        """Propose one change."""

    def observe(self, verdict: Verdict) -> None:
        """Learn what became of a candidate; called for every candidate, in order."""
