"""Moves to another architecture: what of a policy carries over, and when a move is proposed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from evolve.optimize.base import Proposal, ProposalContext, Proposer, Tried, Verdict
from evolve.optimize.constraints import Constraints
from evolve.optimize.search import SearchProposer
from evolve.seeding import derive
from policies.placeholders import required
from policies.policy import BUILT_IN, Policy, make_policy, seed_policy

MOVE_SHARE = 0.25  # of candidates, while an architecture is there that nothing is known of
_FRESH = 0.5  # the hope of a move that nothing is known of
_WITHOUT = "none"  # no memory at all: what every run is compared with in the end, too
_PASSED = frozenset({"level", "gate"})


def moved(policy: Policy, architecture: str, constraints: Constraints) -> Policy:
    """A policy of another architecture with what carries over.

    That is what makes the policy another than its own architecture's seed: texts that need the same
    placeholders there, and settings that apply there. The rest is as in the other's seed, since a
    prompt that speaks of notes is no prompt for passages, and one without a place for memories
    shows none.

    Raises:
        ConfigError: The other architecture's memory cannot be as small as the limit.
    """
    here, there = seed_policy(policy.architecture), seed_policy(architecture)
    texts = {
        name: text
        for name, text in policy.texts.items()
        if name in there.texts
        and text != here.texts[name]
        and required(architecture, name) == required(policy.architecture, name)
    }
    settings = {
        name: value
        for name, value in policy.settings.items()
        if name in there.settings and value != here.settings[name]
    }
    made = make_policy(
        architecture,
        {**there.texts, **texts},
        {**there.settings, **settings},
        policy.name,
        policy.lineage,
    )
    return constraints.fitted(made)


def start_of(proposal: Proposal, parent: Policy, constraints: Constraints) -> Policy:
    """The policy that a proposal changes: the parent, or what it becomes by a move."""
    if proposal.architecture is None:
        return parent
    return moved(parent, proposal.architecture, constraints)


class MovingProposer:
    """Another proposer's proposals, and moves to other architectures among them.

    The first move to an architecture is bare; later ones search its settings, too, led by all that
    was tried of any architecture. The more moves came to nothing, the rarer they become, each
    architecture by itself: its hope is (1 + passed the minibatch) / (2 + scored).

    Args:
        inner: Proposes what is no move; it observes every verdict.
    """

    def __init__(self, inner: Proposer) -> None:
        self._inner = inner
        self._search = SearchProposer()

    def propose(self, context: ProposalContext) -> Proposal:
        """A move, or what the inner proposer proposes.

        Raises:
            MnemotuneError: As of the inner proposer.
        """
        draw = random.Random(derive(context.seed, "architecture"))
        hopes = {name: _hope(name, context.tried) for name in _others(context)}
        best = max(hopes.values(), default=0.0)
        if draw.random() >= MOVE_SHARE * best / _FRESH:
            return self._inner.propose(context)
        name = draw.choices(list(hopes), list(hopes.values()))[0]
        return self._move(context, name)

    def observe(self, verdict: Verdict) -> None:
        """Pass it on."""
        self._inner.observe(verdict)

    def _move(self, context: ProposalContext, architecture: str) -> Proposal:
        there = moved(context.parent, architecture, context.constraints)
        move = Proposal(f"move:{architecture}", architecture=architecture)
        if all(one.policy.id != there.id for one in context.tried):
            return move
        found = self._search.propose(replace(context, parent=there))
        operator = f"{move.operator}+{found.operator}"
        return replace(move, operator=operator, settings=found.settings)


def _others(context: ProposalContext) -> Sequence[str]:
    """The architectures that the parent can move to."""
    return [
        name
        for name in BUILT_IN
        if name not in {_WITHOUT, context.parent.architecture} and context.constraints.allow(name)
    ]


def _hope(architecture: str, tried: Sequence[Tried]) -> float:
    """Chance that a move to an architecture gets beyond the minibatch, by what became of others."""
    moves = [
        one.verdict
        for one in tried
        if one.policy.architecture == architecture != one.parent.architecture
    ]
    passed = sum(verdict.accepted or verdict.stage in _PASSED for verdict in moves)
    return (1 + passed) / (2 + len(moves))
