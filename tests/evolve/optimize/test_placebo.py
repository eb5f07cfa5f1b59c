"""The placebo: the same slots, without what the words mean."""

from __future__ import annotations

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import RejectedRewriteError
from evolve.optimize.joint import JointProposer
from evolve.optimize.placebo import PlaceboProposer
from policies.policy import seed_policy

TYPES = {"memory_types": 1.0}


def placebo(lm, rules, seed: int = 0) -> PlaceboProposer:
    return PlaceboProposer(JointProposer(lm, rules), rules, seed)


def both(rules, context, seed: int = 4):
    return [
        proposer.propose(context)
        for proposer in (JointProposer(OfflineLM(), rules), placebo(OfflineLM(), rules, seed))
    ]


@pytest.mark.parametrize("architecture", ["awe", "awi"])
def test_differs_from_joint_in_the_added_words_alone(rules, context_for, architecture) -> None:
    parent = seed_policy(architecture)
    old = set(parent.texts["memory_types"].split("\n"))
    for seed in range(20):
        real, sham = both(rules, context_for(parent, seed, mass=TYPES))
        assert sham.operator == "placebo:" + real.operator.removeprefix("rewrite:")
        assert sham.settings == real.settings
        if "memory_types" not in real.texts:
            continue
        pairs = list(
            zip(
                real.texts["memory_types"].split("\n"),
                sham.texts["memory_types"].split("\n"),
                strict=True,
            )
        )
        added = [(a, b) for a, b in pairs if a not in old]
        assert all(a == b for a, b in pairs if a in old)
        assert len({b for _, b in added}) == len(added) > 0
        for a, b in added:
            assert not set(a[2:].split()) & set(b[2:].split())
            assert b.startswith("- ")
            assert abs(len(a) - len(b)) <= 8


def test_other_texts_and_settings_are_as_proposed(rules, context_for) -> None:
    context = context_for(seed_policy("awe"), 2, mass={"reply_prompt": 1.0})
    real, sham = both(rules, context)
    assert (sham.texts, sham.settings) == (real.texts, real.settings)
    assert sham.operator.startswith("placebo:reply_prompt")


def test_words_of_an_accepted_placebo_stay(rules, context_for) -> None:
    seed = seed_policy("awe")
    _, sham = both(rules, context_for(seed, 1, mass=TYPES))
    parent = seed.derive(sham.texts)
    _, next_sham = both(rules, context_for(parent, 2, (seed, parent), mass=TYPES))
    before = {line for line in parent.texts["memory_types"].split("\n") if ":" not in line}
    assert before <= set(next_sham.texts["memory_types"].split("\n"))


def test_another_run_draws_other_words(rules, context_for) -> None:
    context = context_for(seed_policy("awe"), 1, mass=TYPES)
    assert both(rules, context, 1)[1].texts != both(rules, context, 2)[1].texts


def test_chinese_lists_get_chinese_words(scripted, rules, context_for) -> None:
    parent = seed_policy("awe").derive({"memory_types": "- 个人喜好：用户喜欢什么\n- 健康情况\n"})
    text = "- 健康情况\n- 饮食习惯\n- 家庭"
    lm = scripted([f"[[ ## new_text ## ]]\n{text}\n\n[[ ## completed ## ]]"])
    made = placebo(lm, rules).propose(context_for(parent, 3, mass=TYPES))
    lines = made.texts["memory_types"].split("\n")
    assert lines[0] == "- 健康情况"
    assert lines[1] != "- 饮食习惯"
    assert not any(line[2:].isascii() for line in lines if line)


def test_rejections_are_the_placebos(scripted, rules, context_for) -> None:
    proposer = placebo(scripted(["no", "no"]), rules)
    with pytest.raises(RejectedRewriteError) as caught:
        proposer.propose(context_for(seed_policy("awe"), 3, mass=TYPES))
    assert caught.value.proposal.operator == "placebo:memory_types"
