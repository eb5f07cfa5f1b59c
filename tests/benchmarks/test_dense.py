from __future__ import annotations

import pytest

from benchmarks.dense import dense, installed
from feedback.records import Entry

pytestmark = pytest.mark.extra


def test_what_means_the_like_is_near_without_a_common_word():
    pytest.importorskip("wordllama", reason="wordllama is not installed: make test-extras has it")
    assert installed()
    entries = tuple(
        Entry(number, "", text, (f"0.0.{number}.u",), number, 0, 0)
        for number, text in enumerate(("My kitten is ill.", "The car needs new tyres."))
    )
    scores = dense(["What became of the cat?", "Which vehicle was repaired?"], entries)
    assert scores.shape == (2, 2)
    assert scores[0, 0] > scores[0, 1]
    assert scores[1, 1] > scores[1, 0]
