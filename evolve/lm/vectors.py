"""Hashed character n-gram vectors of texts, made in batches and kept per process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 1024
_KEPT = 50_000  # texts; 4 kB each
_cache: dict[str, NDArray[np.float32]] = {}


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors of texts (or zeros for an empty one), one row each.

    One string costs 0.3 ms alone and far less in a batch, so all that are new go in one.

    Returns:
        Shape (len(texts), DIMENSIONS); the product of two rows is their cosine similarity.
    """
    # Looked up once: another thread may clear the cache at any time.
    found: dict[str, Any] = {text: _cache.get(text) for text in texts}
    new = [text for text, row in found.items() if row is None]
    if new:
        if len(_cache) + len(new) > _KEPT:
            _cache.clear()
        made = _vectorizer().transform(new).toarray().astype(np.float32)
        rows = dict(zip(new, made, strict=True))
        _cache.update(rows)
        found |= rows
    return np.stack([found[text] for text in texts])


@lru_cache(maxsize=1)
def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=DIMENSIONS)
