"""The stand-in's finer operators: each does what it is asked, with the words that it is shown."""

from __future__ import annotations

import random

import pytest

from evolve.lm.offline_operators import repaired, sharpened, shortened
from policies.placeholders import names
from policies.policy import seed_policy

LIST = "- personal preferences: what the user likes or avoids\n- diet style\n- sleep length"


@pytest.mark.parametrize(
    ("failing", "new"),
    [
        ("home_town", f"{LIST}\n- home town"),
        ("diet_budget", LIST.replace("- sleep", "- diet budget\n- sleep")),
        ("Diet_style", LIST),
    ],
)
def test_sharpening_adds_one_bullet_beside_its_like(failing, new) -> None:
    assert sharpened(LIST, failing) == new


def test_shortening_drops_explanations_then_what_does_not_fail() -> None:
    brief = "- personal preferences\n- diet style\n- sleep length"
    assert shortened(LIST, (), len(brief)) == brief
    assert shortened(LIST, ("sleep length",), 39) == "- personal preferences\n- sleep length"
    assert shortened(LIST, (), 5000) == LIST


def test_shortening_keeps_placeholders_and_forms() -> None:
    old = seed_policy("awe").texts["write_prompt"]
    new = shortened(old, (), len(old) * 3 // 4)
    assert len(new) < len(old)
    assert names(new) == names(old)
    assert '{"label": "value", ...}' in new


def test_a_repair_brings_back_what_was_lost_where_more_got_worse() -> None:
    attempt = "- sleep length\n- home town"
    worse = "worse: diet_style, 4 more wrong answers\nIt was not kept: p 0.4."
    better = "better: home_town, 3 fewer wrong answers"
    lost = "- personal preferences: what the user likes or avoids\n- diet style"
    assert repaired(LIST, attempt, worse, random.Random(0)) == f"{lost}\n{attempt}"
    assert repaired(LIST, attempt, better, random.Random(0)) == attempt
