"""Strategies: which candidates carry what."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import RejectedRewriteError
from evolve.optimize.joint import JOINT_SHARE, TEXT_SHARE, JointProposer
from policies.policy import seed_policy

AWE = seed_policy("awe")
MASS = {"memory_types": 0.6, "settings": 0.4}


def kind(proposal) -> str:
    return "+".join(k for k in ("texts", "settings") if getattr(proposal, k))


@pytest.fixture
def shares(rules, context_for, verdict_on):
    """Kinds of 300 first candidates of a run to their shares, and the operators that made them."""

    def run(mass, **parts):
        proposer = JointProposer(OfflineLM(), rules, **parts)
        last = verdict_on(AWE, AWE, "search")
        made = [proposer.propose(context_for(AWE, s, mass=mass, last=last)) for s in range(300)]
        return {k: n / 300 for k, n in Counter(map(kind, made)).items()}, {m.operator for m in made}

    return run


def test_parts_get_their_shares_by_failures_and_a_fixed_share_carries_both(shares) -> None:
    found, operators = shares(MASS)
    alone = 1 - JOINT_SHARE
    assert found == {
        "texts+settings": pytest.approx(JOINT_SHARE, abs=0.1),
        "texts": pytest.approx(0.6 * alone, abs=0.1),
        "settings": pytest.approx(0.4 * alone, abs=0.1),
    }
    assert {"search:finding", "search:showing", "rewrite:memory_types+search:finding"} < operators


def test_what_nothing_is_blamed_on_is_not_starved(shares) -> None:
    operators = shares({"memory_types": 1.0})[1]
    assert any(operator.startswith("rewrite:answer_prompt") for operator in operators)
    assert any(operator.startswith("search:") for operator in operators)


def test_without_routing_all_parts_of_a_kind_are_alike(shares) -> None:
    found, _ = shares({"memory_types": 1.0}, routed=False)
    assert found == {
        "texts+settings": pytest.approx(JOINT_SHARE, abs=0.1),
        "texts": pytest.approx(TEXT_SHARE, abs=0.1),
        "settings": pytest.approx(1 - JOINT_SHARE - TEXT_SHARE, abs=0.1),
    }


def test_without_both_no_candidate_changes_both(shares) -> None:
    assert shares(MASS, both=False)[0].keys() == {"texts", "settings"}


def test_the_first_candidate_of_a_run_has_new_text(rules, context_for) -> None:
    proposer = JointProposer(OfflineLM(), rules)
    assert all(proposer.propose(context_for(AWE, seed)).texts for seed in range(40))


def test_without_settings_only_texts_are_proposed(rules, context_for, verdict_on) -> None:
    none = seed_policy("none")
    proposer = JointProposer(OfflineLM(), rules)
    last = verdict_on(none, none, "search")
    for seed in range(20):
        made = proposer.propose(context_for(none, seed, mass={"reply_prompt": 1.0}, last=last))
        assert made.operator in {"rewrite:reply_prompt", "rewrite:answer_prompt"}
        assert not made.settings


def test_rejections_pass(scripted, rules, context_for) -> None:
    proposer = JointProposer(scripted(["no", "no"]), rules)
    with pytest.raises(RejectedRewriteError, match="no new_text"):
        proposer.propose(context_for(AWE))


def test_no_text_is_changed_that_feedback_does_not_go_to(rules, context_for, verdict_on) -> None:
    proposer = JointProposer(OfflineLM(), rules)
    last = verdict_on(AWE, AWE, "search")
    changed = Counter()
    for seed in range(200):
        context = context_for(AWE, seed, last=last)
        texts = {k: v for k, v in context.feedback.texts.items() if k != "reply_prompt"}
        feedback = replace(context.feedback, texts=texts)
        changed.update(proposer.propose(replace(context, feedback=feedback)).texts.keys())
    assert changed.keys() == {"memory_types", "write_prompt", "answer_prompt"}
