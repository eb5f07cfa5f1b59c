"""Chance alone: any value, any number of settings, texts without a word of what failed."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import RejectedRewriteError
from evolve.optimize.joint import JOINT_SHARE, TEXT_SHARE
from evolve.optimize.random_search import RandomProposer, draw_settings, draw_value
from policies.policy import ARCHITECTURES, seed_policy
from policies.settings import SETTINGS, applicable
from tests.evolve.optimize.conftest import STATES

AWE = seed_policy("awe")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_every_value_may_be_drawn_and_no_other(setting) -> None:
    draw = random.Random(1)
    drawn = [draw_value(setting, draw) for _ in range(400)]
    assert all(setting.accepts(value) for value in drawn)
    if setting.values:
        assert set(drawn) == set(setting.values)
    else:
        numbers = [value for value in drawn if value is not None]
        assert (None in drawn) == setting.optional
        assert min(numbers) <= setting.low * 1.1 + 1
        assert max(numbers) >= setting.high * 0.9


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_settings_that_are_drawn_differ_from_the_parents(architecture, context_for) -> None:
    parent = seed_policy(architecture)
    sizes = set()
    for seed in range(60):
        changed = draw_settings(context_for(parent), random.Random(seed))
        assert all(parent.settings[name] != value for name, value in changed.items())
        sizes.add(len(changed))
    count = len(applicable(architecture))
    assert (min(sizes), max(sizes)) == (min(1, count), max(sizes))
    assert max(sizes) >= count - 2


def test_texts_as_often_as_joint_and_told_nothing(scripted, rules, context_for) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(120):
        lm = scripted(["[[ ## new_text ## ]]\n- family ties\n- work\n\n[[ ## completed ## ]]"] * 2)
        try:
            made = RandomProposer(lm, rules).propose(context_for(AWE, seed))
        except RejectedRewriteError as error:  # a list where a prompt with placeholders should be
            made = error.proposal
        kinds["texts"] += bool(lm.requests)
        kinds["settings"] += made.operator == "random" or made.operator.endswith("+random")
        asked = "".join(m.content for request in lm.requests for m in request.messages)
        assert not [state for state in STATES if state in asked]
        assert ("What failed is not known" in asked) == bool(asked)
    assert kinds["texts"] / 120 == pytest.approx(JOINT_SHARE + TEXT_SHARE, abs=0.1)


def test_all_texts_are_changed_about_as_often(rules, context_for) -> None:
    """However the failures are spread, and whatever came of earlier candidates."""
    made: Counter[str] = Counter()
    for seed in range(160):
        context = context_for(AWE, seed, mass={"memory_types": 1.0})
        try:
            proposal = RandomProposer(OfflineLM(), rules).propose(context)
        except RejectedRewriteError as error:
            proposal = error.proposal
        made[proposal.operator.partition("+")[0]] += 1
    texts = {name: count for name, count in made.items() if name != "random"}
    assert len(texts) == len(AWE.texts)
    assert max(texts.values()) < 3 * min(texts.values())


def test_gains_change_nothing(rules, context_for, verdict_on) -> None:
    lived = RandomProposer(OfflineLM(), rules)
    for step in range(6):
        lived.observe(
            verdict_on(AWE, AWE, "rewrite:memory_types", 0.2, stage="gate", accepted=True)
        )
        context = context_for(AWE, step)
        assert lived.propose(context) == RandomProposer(OfflineLM(), rules).propose(context)
