"""The operators on texts: when each is used, what it asks and what it makes of the reply."""

from __future__ import annotations

from collections import Counter

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import RejectedRewriteError, Tried
from evolve.optimize.credit import operator_of
from evolve.optimize.rewrite import WEIGHTS, RewriteProposer
from policies.errors import OutsideFailureError
from policies.policy import Lineage, seed_policy

AWE = seed_policy("awe")
TYPES = "memory_types"
ONLY = {TYPES: 1.0}
LONG = AWE.texts[TYPES] + "".join(f"- kind {n} of tea and cake\n" for n in range(20))


def reply(text: str) -> str:
    return f"[[ ## new_text ## ]]\n{text}\n\n[[ ## completed ## ]]"


@pytest.fixture
def fell(context_for, verdict_on):
    """A candidate of the awe seed that fell at the gate, with its settings."""

    def make(text: str = AWE.texts[TYPES] + "- tea\n", **settings) -> Tried:
        policy = AWE.derive({TYPES: text}, settings)
        operator = f"rewrite:{TYPES}" + "+search:finding" * bool(settings)
        verdict = verdict_on(policy, AWE, operator, 0.02, stage="gate", reason="p 0.2")
        changes = {"diet_style": 3, "pet_kind": -2}
        return Tried(policy, AWE, verdict, context_for(AWE).feedback, changes)

    return make


@pytest.fixture
def made_by(rules, context_for):
    """The first of many proposals that an operator made, and its share of those of its text."""

    def run(operator: str, parent=AWE, lm=None, **context):
        proposer = RewriteProposer(lm or OfflineLM(), rules)
        made = [
            proposer.propose(context_for(parent, seed, mass=ONLY, **context), TYPES)
            for seed in range(60)
        ]
        counts = Counter(operator_of(one.operator).partition("+")[0] for one in made)
        found = [one for one in made if one.operator.startswith(operator)]
        return found[0] if found else None, counts[operator] / 60

    return run


def test_most_are_whole_rewrites(made_by) -> None:
    known = WEIGHTS["rewrite"] + WEIGHTS["sharpen"]
    assert made_by("rewrite")[1] == pytest.approx(WEIGHTS["rewrite"] / known, abs=0.1)
    assert made_by("repair")[0] is made_by("simplify")[0] is made_by("merge")[0] is None


def test_sharpening_changes_one_type(made_by) -> None:
    made, _ = made_by("sharpen")
    assert made.operator == "sharpen:memory_types"
    added = set(made.texts[TYPES].split("\n")) - set(AWE.texts[TYPES].split("\n"))
    assert len(added) == 1


def test_a_text_that_has_grown_is_simplified(made_by) -> None:
    parent = AWE.derive({TYPES: LONG})
    made, share = made_by("simplify", parent, versions=(AWE, parent))
    assert made.operator == "simplify:memory_types"
    assert len(made.texts[TYPES]) <= 0.75 * len(LONG)
    assert 0 < share < 0.25


def test_what_is_not_shorter_is_no_simplification(rules, scripted, context_for) -> None:
    parent = AWE.derive({TYPES: LONG})
    reasons = set()
    for seed in range(60):
        proposer = RewriteProposer(scripted([reply(LONG + "- more")]), rules)
        try:
            proposer.propose(context_for(parent, seed, (AWE, parent), ONLY), TYPES)
        except RejectedRewriteError as error:
            reasons.add((error.proposal.operator, str(error)))
    assert reasons == {("simplify:memory_types", "the rewrite was to be shorter, but is not")}


class TestRepair:
    def test_keeps_the_attempts_settings_and_names_it(self, made_by, fell) -> None:
        attempt = fell(top_k=20)
        made, share = made_by("repair", tried=(attempt,))
        assert made.operator == "repair:memory_types+search:finding"
        assert made.settings == {"top_k": 20}
        assert made.merged == attempt.policy.id
        assert "- tea" in made.texts[TYPES]
        assert share > 0.05

    def test_is_told_what_got_worse_and_why_it_fell(
        self, rules, scripted, context_for, fell
    ) -> None:
        lm = scripted([reply("- tea")] * 60)
        proposer = RewriteProposer(lm, rules)
        for seed in range(60):
            proposer.propose(context_for(AWE, seed, mass=ONLY, tried=(fell(),)), TYPES)
        asked = [r.messages[-1].content for r in lm.requests]
        (first, *_) = [text for text in asked if "[[ ## attempt ## ]]" in text]
        assert "worse: diet_style, 3 more wrong answers" in first
        assert "better: pet_kind, 2 fewer wrong answers" in first
        assert "It was not kept: p 0.2." in first

    def test_not_twice_nor_of_another_parents(self, made_by, fell, verdict_on) -> None:
        attempt = fell()
        once = AWE.derive({TYPES: "- cup"}, lineage=Lineage((AWE.id, attempt.policy.id), 2))
        again = Tried(once, AWE, verdict_on(once, AWE, "repair:memory_types"), attempt.feedback, {})
        other = AWE.derive({TYPES: AWE.texts[TYPES] + "- cup size\n"})
        assert made_by("repair", tried=(attempt, again))[0] is None
        assert made_by("repair", other, tried=(attempt,))[0] is None


def test_knows_the_settings_that_change_with_the_text(rules, scripted, context_for) -> None:
    lm = scripted([OutsideFailureError("down")])
    with pytest.raises(OutsideFailureError):
        RewriteProposer(lm, rules).propose(
            context_for(AWE, 1), "answer_prompt", {"top_k": 20, "supersede": True}
        )
    asked = lm.requests[0].messages[-1].content
    assert "- top_k: 20 (was 10): entries retrieved" in asked
    assert "- supersede: true (was false): whether" in asked
    assert "- write_every: 4: messages written at a time" in asked


def test_learns_from_accepted_rewrites_without_what_users_said(
    rules, scripted, context_for, verdict_on
) -> None:
    new = AWE.derive({"answer_prompt": "Trust the newest.\n{{memories}}\n"})
    tried = tuple(
        Tried(
            new,
            AWE,
            verdict_on(new, AWE, operator, 0.1, stage="gate", accepted=accepted),
            context_for(AWE).feedback,
            {},
        )
        for operator, accepted in (
            ("rewrite:answer_prompt+search:finding", True),
            ("rewrite:reply_prompt", True),
            ("rewrite:answer_prompt", False),
        )
    )
    lm = scripted([OutsideFailureError("down")])
    context = context_for(new, 1, (AWE, new), tried=tried)
    with pytest.raises(OutsideFailureError):
        RewriteProposer(lm, rules).propose(context, "answer_prompt")
    shown = lm.requests[0].messages[1:-1]
    assert [message.role for message in shown] == ["user", "assistant"]
    assert AWE.texts["answer_prompt"].strip() in shown[0].content
    assert "### diet_style: 20 of 40 answers wrong" in shown[0].content
    assert "the user said so" not in shown[0].content
    assert "Trust the newest." in shown[1].content
