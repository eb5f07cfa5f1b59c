"""Texts varied without knowing what failed: other, legal, made of the same words."""

from __future__ import annotations

import random

import pytest

from evolve.lm.offline_vary import varied
from policies.errors import RejectedTextError
from policies.policy import ARCHITECTURES, seed_policy
from policies.text_rules import RewriteRules, check_rewrite
from policies.words import words

SAID = ("Trust what is newer.",)
RULES = RewriteRules.build([], [])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_texts_of_the_seeds_become_others_that_keep_the_rules(architecture) -> None:
    for name, text in seed_policy(architecture).texts.items():
        made = {varied(text, SAID, random.Random(seed)) for seed in range(30)} - {text}
        assert len(made) > 1, name
        broken = 0
        for new in made:
            assert set(words(new)) <= set(words(text)) | set(words(SAID[0]))
            try:
                check_rewrite(text, new, RULES)
            except RejectedTextError:
                broken += 1
        assert broken == 0, name


def test_a_bullet_becomes_bullets() -> None:
    text = "- food: bread, cheese and wine\n- sport: running or rowing"
    made = {varied(text, (), random.Random(seed)) for seed in range(40)}
    assert "- bread\n- cheese\n- wine\n- sport: running or rowing" in made
    assert all(line.startswith("- ") for new in made for line in new.split("\n"))


def test_chinese_lists_are_split_too() -> None:
    made = {varied("- 饮食：面包、奶酪和酒", (), random.Random(seed)) for seed in range(9)}
    assert made == {"- 面包\n- 奶酪\n- 酒"}


@pytest.mark.parametrize("text", ["", "Reply.", "Use {{memories}}."])
def test_what_is_too_short_stays(text) -> None:
    assert varied(text, (), random.Random(0)) == text
