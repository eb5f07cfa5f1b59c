"""Scores by dense vectors: WordLlama's static embeddings, from its package and no network."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.agents.retrieve import entry_text
from feedback.records import Entry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOT_INSTALLED = "dense: not measured, as wordllama is not installed; make extras installs it"


def installed() -> bool:
    """Whether the package that has the embeddings is there."""
    return find_spec("wordllama") is not None


def dense(queries: Sequence[str], entries: tuple[Entry, ...]) -> NDArray[np.float64]:
    """Cosine similarity of every query and entry, of shape (queries, entries)."""
    model = _model()
    texts = model.embed([entry_text(entry) for entry in entries], norm=True)
    found: NDArray[np.float64] = model.embed(list(queries), norm=True).astype(float) @ texts.T
    return found


@cache
def _model() -> Any:
    import wordllama

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # importing it lets everything be logged
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
