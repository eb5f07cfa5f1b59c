"""What settings gained by themselves, whatever text they were tried with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.optimize.effects import known_settings, tokens_of, told_of
from policies.policy import Policy, seed_policy

AWE, RAG = seed_policy("awe"), seed_policy("rag")
NEW_TEXT = {"reply_prompt": "Ask more. {{memories}}"}


def with_top_k(policy: Policy, value: int, texts: dict[str, str] | None = None) -> Policy:
    return policy.derive(texts, {"top_k": value})


def gains(context) -> list[tuple[object, float]]:
    return [(t.settings.get("top_k"), pytest.approx(t.difference)) for _, t in told_of(context)]


def test_the_parent_comes_first_with_its_tokens(context_for, tried_on) -> None:
    ((architecture, own),) = told_of(context_for(AWE))
    assert (architecture, own.settings, own.difference) == ("awe", AWE.settings, 0.0)
    assert own.tokens == 900.0
    later = with_top_k(AWE, 20)
    assert tokens_of(context_for(later, tried=(tried_on(later, AWE, "search"),))) == 800.0


def test_only_scored_candidates_with_other_settings_say_something(context_for, tried_on) -> None:
    tried = (
        tried_on(AWE.derive(NEW_TEXT), AWE, "rewrite:reply_prompt", 0.1),
        tried_on(with_top_k(AWE, 20), AWE, "search", None, stage="failed"),
        tried_on(with_top_k(AWE, 30), AWE, "search", -0.02),
    )
    assert gains(context_for(AWE, tried=tried)) == [(10, 0.0), (30, -0.02)]


def test_what_was_only_heard_says_what_it_did_off_policy(context_for, tried_on) -> None:
    one = tried_on(with_top_k(AWE, 20), AWE, "search", None, stage="screen")
    heard = replace(one.verdict, heard_difference=-0.06, tokens_per_answer=700.0)
    context = context_for(AWE, tried=(replace(one, verdict=heard),))
    assert gains(context) == [(10, 0.0), (20, -0.06)]
    assert known_settings(context)[-1]["top_k"] == 20


def test_differences_add_up_over_versions(context_for, tried_on) -> None:
    better, worse = with_top_k(AWE, 20), with_top_k(AWE, 3)
    best = with_top_k(better, 30)
    tried = (
        tried_on(worse, AWE, "search", -0.04),
        tried_on(better, AWE, "search", 0.1, accepted=True, stage="gate"),
        tried_on(best, better, "search", 0.05),
    )
    context = context_for(better, versions=(AWE, better), tried=tried)
    assert gains(context) == [(20, 0.0), (3, -0.14), (30, 0.05)]


def test_what_a_new_text_gained_is_no_merit_of_settings(context_for, tried_on) -> None:
    text = AWE.derive(NEW_TEXT)
    both = with_top_k(text, 20, {"answer_prompt": "Pick. {{memories}}"})
    tried = (
        tried_on(with_top_k(AWE, 3), AWE, "search", -0.04),
        tried_on(text, AWE, "rewrite:reply_prompt", 0.2, accepted=True, stage="gate"),
        tried_on(both, text, "rewrite:answer_prompt+search", 0.23),
    )
    context = context_for(text, versions=(AWE, text), tried=tried)
    assert gains(context) == [(10, 0.0), (3, -0.04), (20, 0.03)]


def test_settings_of_another_architecture_are_told_as_its_own(context_for, tried_on) -> None:
    tried = (
        tried_on(RAG, AWE, "move:rag", -0.1),
        tried_on(with_top_k(RAG, 20), AWE, "move:rag+search", 0.0),
    )
    told = told_of(context_for(AWE, tried=tried))
    assert [(architecture, one.settings["top_k"]) for architecture, one in told] == [
        ("awe", 10), ("rag", 10), ("rag", 20),
    ]  # fmt: skip
    assert [one.difference for _, one in told] == pytest.approx([0.0, -0.05, 0.05])


def test_known_settings_are_those_tried_with_the_same_text(context_for, tried_on) -> None:
    text = AWE.derive(NEW_TEXT)
    tried = (
        tried_on(with_top_k(AWE, 20), AWE, "search"),
        tried_on(with_top_k(text, 30), text, "search"),
    )
    known = known_settings(context_for(text, versions=(AWE, text), tried=tried))
    assert {settings["top_k"] for settings in known} == {10, 30}
