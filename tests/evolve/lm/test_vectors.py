"""Vectors of texts, whatever the batch that they are made in."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from evolve.lm import vectors as module
from evolve.lm.vectors import DIMENSIONS, vectors

TEXTS = ["I drink tea.", "我喝茶。", "", "I drink teas", "x" * 5000]


def test_rows_are_unit_vectors_or_zeros():
    rows = vectors(TEXTS)
    assert rows.shape == (len(TEXTS), DIMENSIONS)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 0, 1, 1], abs=1e-6)
    assert rows[0] @ rows[3] > 0.7 > rows[0] @ rows[1]


def test_a_text_has_the_same_vector_alone_and_in_any_batch(monkeypatch):
    monkeypatch.setattr(module, "_cache", {})
    whole = vectors(TEXTS)
    monkeypatch.setattr(module, "_cache", {})
    alone = np.concatenate([vectors([text]) for text in reversed(TEXTS)])[::-1]
    assert np.array_equal(whole, alone)
    assert np.array_equal(vectors([TEXTS[0], TEXTS[0]])[1], whole[0])


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "_cache", {})
    monkeypatch.setattr(module, "_KEPT", 3)
    before = vectors(TEXTS[:3])
    vectors(["another", TEXTS[1]])
    assert len(module._cache) <= 3
    assert np.array_equal(vectors(TEXTS[:3]), before)


def test_threads_may_ask_while_the_cache_is_cleared(monkeypatch):
    monkeypatch.setattr(module, "_KEPT", 3)
    monkeypatch.setattr(module, "_cache", {})
    expected = vectors(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for rows in pool.map(lambda n: vectors([*TEXTS, f"another {n}"]), range(200)):
            assert np.array_equal(rows[:-1], expected)
