from __future__ import annotations

import pytest

from evolve.gym.overlap import parts_f1, refusal, token_f1


@pytest.mark.parametrize(
    ("said", "right", "f1"),
    [
        ("The 7 May, 2023.", "7 May 2023", 1.0),
        ("painting and pottery", "Pottery, paintings", 1.0),
        ("in May 2023", "7 May 2023", 2 / 3),
        ("yesterday", "7 May 2023", 0.0),
        ("", "7 May 2023", 0.0),
        ("the", "the", 0.0),
        ("red red", "red", 2 / 3),
    ],
)
def test_token_f1(said, right, f1):
    assert token_f1(said, right) == pytest.approx(f1)


def test_parts_are_matched_one_by_one():
    assert parts_f1("swimming, a red bike", "bike, pottery, swims") == pytest.approx(
        (2 / 3 + 0 + 1) / 3
    )


@pytest.mark.parametrize("said", ["No information available.", "It is not mentioned there"])
def test_a_refusal_is_told_by_its_words(said):
    assert refusal(said, "whatever") == 1
    assert refusal("a bike", "a bike") == 0
