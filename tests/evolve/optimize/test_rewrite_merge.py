"""Merging: with whom, what is taken over, what the rewriter is asked."""

from __future__ import annotations

import random

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import RejectedRewriteError, Tried
from evolve.optimize.rewrite import RewriteProposer
from evolve.optimize.rewrite_merge import draw_partner, partners
from policies.policy import Lineage, seed_policy

AWE = seed_policy("awe")
TYPES = AWE.texts["memory_types"]
ASKING = AWE.texts["reply_prompt"].replace("You are", "Ask about tea. You are")


def reply(text: str) -> str:
    return f"[[ ## new_text ## ]]\n{text}\n\n[[ ## completed ## ]]"


FIRST = AWE.derive({"memory_types": TYPES + "- tea kind\n"})
BOTH = AWE.derive({"memory_types": TYPES + "- cup size\n"}, {"top_k": 20})
OTHER = AWE.derive({"reply_prompt": ASKING}, {"supersede": True})
VERSIONS = (AWE, FIRST, BOTH, OTHER)


def test_what_only_the_other_changed_is_taken_over(scripted, rules, context_for) -> None:
    context = context_for(FIRST, 0, VERSIONS)
    (partner,) = [one for one in partners(context) if one.policy == OTHER]
    made = RewriteProposer(scripted([]), rules).merge(context, partner)
    assert made.operator == "merge:reply_prompt,keeping"
    assert (made.texts, made.settings) == ({"reply_prompt": ASKING}, {"supersede": True})
    assert made.merged == OTHER.id


def test_what_both_changed_the_rewriter_merges(rules, context_for) -> None:
    context = context_for(FIRST, 0, VERSIONS)
    (partner,) = [one for one in partners(context) if one.policy == BOTH]
    made = RewriteProposer(OfflineLM(), rules).merge(context, partner)
    assert made.operator == "merge:memory_types,finding"
    assert made.texts == {"memory_types": FIRST.texts["memory_types"] + "- cup size\n"}
    assert made.settings == {"top_k": 20}


def test_a_merged_text_is_checked(scripted, rules, context_for) -> None:
    context = context_for(FIRST, 0, (AWE, FIRST, BOTH))
    lm = scripted([reply(FIRST.texts["memory_types"])])
    with pytest.raises(RejectedRewriteError, match="same as its parent") as caught:
        RewriteProposer(lm, rules).merge(context, partners(context)[0])
    assert caught.value.proposal.operator == "merge:memory_types,finding"


def test_a_text_that_would_grow_too_much_is_merged_and_not_taken(
    scripted, rules, context_for
) -> None:
    seed = AWE.derive({"memory_types": "- tea\n"})
    long = seed.derive({"memory_types": "- tea\n" + "- cup size\n" * 9})
    parent = seed.derive({"reply_prompt": ASKING})
    context = context_for(parent, 0, (seed, long, parent))
    made = RewriteProposer(scripted([reply("- tea\n- cup")]), rules).merge(
        context, partners(context)[0]
    )
    assert made.texts == {"memory_types": "- tea\n- cup\n"}


@pytest.mark.parametrize(
    ("parent", "versions"),
    [
        (FIRST, (AWE, FIRST)),
        (FIRST, (AWE, FIRST, AWE.derive(settings={"top_k": 20}))),
        (
            FIRST.derive({"memory_types": FIRST.texts["memory_types"] + "- cup size\n"}),
            (AWE, FIRST, BOTH),
        ),
        (FIRST.derive({"memory_types": "- tea kind\n"}), (AWE, FIRST)),
    ],
)
def test_not_with_fewer_than_two_others_or_what_was_left_behind(
    parent, versions, context_for
) -> None:
    known = versions if parent in versions else (*versions, parent)
    assert partners(context_for(parent, 0, known)) == []


def test_another_architectures_versions_are_no_partners(context_for) -> None:
    awi = seed_policy("awi")
    moved = awi.derive({"reply_prompt": ASKING}, lineage=Lineage((FIRST.id,), 2))
    assert (
        partners(
            context_for(FIRST, 0, (AWE, FIRST, moved, moved.derive(settings={"write_every": 8})))
        )
        == []
    )
    assert partners(context_for(moved, 0, (awi, FIRST, moved))) == []


def test_not_twice_with_the_same(context_for, verdict_on) -> None:
    merged = FIRST.derive({"reply_prompt": ASKING}, lineage=Lineage((FIRST.id, OTHER.id), 2))
    plain = context_for(FIRST, 0, VERSIONS)
    tried = Tried(merged, FIRST, verdict_on(merged, FIRST, "merge"), plain.feedback, {})
    again = context_for(FIRST, 0, VERSIONS, tried=(tried,))
    assert [one.policy for one in partners(plain)] == [BOTH, OTHER]
    assert [one.policy for one in partners(again)] == [BOTH]


def test_likelier_with_one_that_is_good_where_the_parent_is_not(context_for) -> None:
    strengths = {
        FIRST.id: {"u1": 0.5, "u2": 0.5},
        BOTH.id: {"u1": 0.1, "u2": 0.9},
        OTHER.id: {"u1": 0.5, "u2": 0.5},
    }
    context = context_for(FIRST, 0, VERSIONS, strengths=strengths)
    draw = random.Random(0)
    drawn = [draw_partner(context, partners(context), draw).policy for _ in range(200)]
    assert drawn.count(BOTH) > 150
    assert OTHER in drawn
