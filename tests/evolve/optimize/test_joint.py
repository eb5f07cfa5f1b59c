"""Strategies: which candidates carry what."""

from __future__ import annotations

from collections import Counter

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import RejectedRewriteError
from evolve.optimize.joint import JOINT_SHARE, TEXT_SHARE, JointProposer
from policies.policy import seed_policy

AWE = seed_policy("awe")
TYPES = {"memory_types": 1.0}


def kind(proposal) -> str:
    return "+".join(k for k in ("texts", "settings") if getattr(proposal, k))


def test_most_candidates_carry_both(rules, context_for, verdict_on) -> None:
    proposer = JointProposer(OfflineLM(), rules)
    last = verdict_on(AWE, AWE, "search")
    made = [proposer.propose(context_for(AWE, s, mass=TYPES, last=last)) for s in range(200)]
    shares = {name: count / 200 for name, count in Counter(map(kind, made)).items()}
    assert shares == {
        "texts+settings": pytest.approx(JOINT_SHARE, abs=0.1),
        "texts": pytest.approx(TEXT_SHARE, abs=0.1),
        "settings": pytest.approx(1 - JOINT_SHARE - TEXT_SHARE, abs=0.1),
    }
    assert {m.operator for m in made} == {
        "rewrite:memory_types+search",
        "rewrite:memory_types",
        "search",
    }


def test_the_first_candidate_of_a_run_has_new_text(rules, context_for) -> None:
    proposer = JointProposer(OfflineLM(), rules)
    assert all(proposer.propose(context_for(AWE, seed)).texts for seed in range(40))


def test_without_settings_only_texts_are_proposed(rules, context_for, verdict_on) -> None:
    none = seed_policy("none")
    proposer = JointProposer(OfflineLM(), rules)
    last = verdict_on(none, none, "search")
    for seed in range(20):
        made = proposer.propose(context_for(none, seed, mass={"reply_prompt": 1.0}, last=last))
        assert made.operator == "rewrite:reply_prompt"
        assert not made.settings


def test_rejections_pass(scripted, rules, context_for) -> None:
    proposer = JointProposer(scripted(["no", "no"]), rules)
    with pytest.raises(RejectedRewriteError, match="no new_text"):
        proposer.propose(context_for(AWE))
