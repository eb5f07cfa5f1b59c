"""Optuna over the settings: all of them or a few, for accuracy alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.optimize.base import Proposal
from evolve.optimize.constraints import Constraints
from evolve.optimize.search import MOST_CHANGED
from evolve.optimize.search_only import WHOLE_SHARE, WholeSearchProposer
from policies.policy import seed_policy
from policies.settings import applicable

AWE, RAG = seed_policy("awe"), seed_policy("rag")


@pytest.mark.parametrize("parent", [AWE, RAG], ids=lambda p: p.architecture)
def test_half_of_the_candidates_draw_all_settings_anew(parent, context_for) -> None:
    made = [WholeSearchProposer().propose(context_for(parent, seed)) for seed in range(120)]
    sizes = [len(one.settings) for one in made]
    assert sum(size > MOST_CHANGED for size in sizes) / 120 == pytest.approx(WHOLE_SHARE, abs=0.1)
    assert max(sizes) >= len(applicable(parent.architecture)) - 1
    assert {one.operator for one in made} == {"search"}


def test_an_architecture_without_settings_gets_an_empty_proposal(context_for) -> None:
    assert WholeSearchProposer().propose(context_for(seed_policy("none"))) == Proposal("search")


def test_what_was_tried_is_not_proposed_again(context_for, verdict_on) -> None:
    context = context_for(AWE, 5)
    first = WholeSearchProposer().propose(context)
    proposer = WholeSearchProposer()
    proposer.observe(verdict_on(AWE.derive(settings=first.settings), AWE, "search", -0.1))
    assert proposer.propose(context).settings != first.settings


def test_what_is_over_a_limit_draws_no_search(context_for, verdict_on) -> None:
    proposer = WholeSearchProposer()
    for k in range(1, 50, 2):
        candidate = AWE.derive(settings={"top_k": k, "max_memory_tokens": 1000})
        proposer.observe(verdict_on(candidate, AWE, "search", k / 100, tokens_per_answer=50.0 * k))
    limits = Constraints(memory_tokens=1000, answer_tokens=1000)
    parent = limits.fitted(AWE)
    contexts = [replace(context_for(parent, seed), constraints=limits) for seed in range(30)]
    made = [proposer.propose(context).settings for context in contexts]
    drawn = [one["top_k"] for one in made if "top_k" in one]
    assert sum(drawn) / len(drawn) < 30
    assert all(one.get("max_memory_tokens", 0) <= 1000 for one in made)


def test_learns_from_gains_and_not_from_costs(context_for, verdict_on) -> None:
    """Where fewer retrieved entries were better they are suggested, whatever they cost."""

    def mean_top_k(gain, tokens) -> float:
        proposer = WholeSearchProposer()
        for step in range(24):
            candidate = AWE.derive(settings={"top_k": 1 + (step * 17) % 50})
            k = candidate.settings["top_k"]
            proposer.observe(
                verdict_on(candidate, AWE, "search", gain(k), tokens_per_answer=tokens(k))
            )
        made = [proposer.propose(context_for(AWE, seed)).settings for seed in range(40)]
        drawn = [one["top_k"] for one in made if "top_k" in one]
        return sum(drawn) / len(drawn)

    few = mean_top_k(lambda k: -k / 100, lambda k: 5000.0 - 50 * k)
    many = mean_top_k(lambda k: k / 100, lambda k: 50.0 * k)
    assert few < 18
    assert many > 32
