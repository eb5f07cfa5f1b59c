"""Moves to another architecture: what carries over, and when one is proposed."""

from __future__ import annotations

import pytest

from evolve.optimize.architecture import MOVE_SHARE, MovingProposer, moved, start_of
from evolve.optimize.base import Proposal
from evolve.optimize.constraints import NO_LIMITS, Constraints
from policies.policy import make_policy, seed_policy

AWE, AWI, RAG, NATIVE = (seed_policy(name) for name in ("awe", "awi", "rag", "native"))
EVOLVED = AWE.derive(
    {"memory_types": "- tea\n", "answer_prompt": "Choose well. {{memories}}"},
    {"write_every": 2, "supersede": True},
)


class Inner:
    """Proposes nothing, and keeps what it observes."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def propose(self, context) -> Proposal:
        return Proposal("inner")

    def observe(self, verdict) -> None:
        self.seen.append(verdict)


def moves(context_for, parent=AWE, count=200, **more) -> list[Proposal]:
    made = [MovingProposer(Inner()).propose(context_for(parent, n, **more)) for n in range(count)]
    return [proposal for proposal in made if proposal.architecture is not None]


@pytest.mark.parametrize("there", [AWI, RAG, NATIVE], ids=lambda policy: policy.architecture)
def test_a_seed_becomes_the_other_seed(there) -> None:
    assert moved(AWE, there.architecture, NO_LIMITS).id == there.id


def test_what_evolved_carries_over_where_it_fits() -> None:
    same = moved(EVOLVED, "awi", NO_LIMITS)
    assert (same.texts["memory_types"], same.settings["write_every"]) == ("- tea\n", 2)
    assert same.texts["write_prompt"] == AWI.texts["write_prompt"]
    passages = moved(EVOLVED, "rag", NO_LIMITS)
    assert passages.texts["answer_prompt"] == "Choose well. {{memories}}"
    assert passages.texts["reply_prompt"] == RAG.texts["reply_prompt"]
    assert passages.settings.keys() == RAG.settings.keys()
    # no place for memories there
    assert moved(EVOLVED, "native", NO_LIMITS).id == NATIVE.id


def test_a_move_keeps_the_limit_of_memory(context_for) -> None:
    limits = Constraints(memory_tokens=900)
    assert moved(AWE, "rag", limits).settings["max_memory_tokens"] == 900
    made = moves(context_for, limits.fitted(AWE), constraints=limits)
    assert {proposal.architecture for proposal in made} == {"rag", "awi"}  # native needs 1000


def test_a_proposal_changes_the_parent_or_what_it_moves_to() -> None:
    assert start_of(Proposal("search"), AWE, NO_LIMITS) is AWE
    assert start_of(Proposal("move:rag", architecture="rag"), AWE, NO_LIMITS).id == RAG.id


def test_the_first_moves_are_bare_and_as_many_as_said(context_for) -> None:
    made = moves(context_for)
    assert {proposal.operator for proposal in made} == {"move:native", "move:rag", "move:awi"}
    assert not any(proposal.settings or proposal.texts for proposal in made)
    assert len(made) == pytest.approx(200 * MOVE_SHARE, abs=20)


def test_later_moves_search_the_settings_of_that_architecture(context_for, tried_on) -> None:
    tried = tuple(tried_on(one, AWE, "move", -0.1) for one in (AWI, RAG, NATIVE))
    for proposal in moves(context_for, tried=tried):
        there = seed_policy(proposal.architecture)
        assert proposal.operator == f"move:{proposal.architecture}+search"
        assert proposal.settings.keys() <= there.settings.keys()
        make_policy(proposal.architecture, there.texts, {**there.settings, **proposal.settings})


def test_moves_that_came_to_nothing_become_rarer(context_for, tried_on) -> None:
    failed = [
        tried_on(RAG.derive(settings={"top_k": n}), AWE, "move:rag+search", -0.1)
        for n in range(11, 19)
    ]
    passed = [tried_on(AWI, AWE, "move:awi", 0.1, stage="gate")]
    made = [proposal.architecture for proposal in moves(context_for, tried=(*failed, *passed))]
    assert made.count("awi") > made.count("native") > made.count("rag")
    lost = tuple(tried_on(one, AWE, "move", -0.1) for one in (AWI, RAG, NATIVE) for _ in range(9))
    assert len(moves(context_for, tried=lost)) < 20


def test_verdicts_are_passed_on(verdict_on) -> None:
    proposer, verdict = MovingProposer(Inner()), verdict_on(RAG, AWE, "move:rag")
    proposer.observe(verdict)
    assert proposer._inner.seen == [verdict]


def test_the_same_context_gives_the_same_proposal(context_for) -> None:
    assert moves(context_for, count=30) == moves(context_for, count=30)
