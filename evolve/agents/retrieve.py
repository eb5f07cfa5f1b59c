"""Ranking of memory entries for a query: BM25, character n-grams, or both by rank fusion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from feedback.records import Entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_DIGITS = 6  # what single precision tells apart; equal texts are equal wherever they stand
_FUSION = 60  # the constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)


class Retriever:
    """Ranks entries; the index is kept as long as the entries stay the same.

    Args:
        kind: ``bm25``, ``ngram`` or ``hybrid``.
        half_life: Scores are multiplied by 0.5^(sessions since the entry / half_life), or None.
    """

    def __init__(self, kind: str, half_life: int | None) -> None:
        self._kind = kind
        self._half_life = half_life
        self._indexed: tuple[Entry, ...] = ()
        self._bm25: Any = None

    def rank(
        self, query: str, entries: tuple[Entry, ...], session: int, top_k: int
    ) -> tuple[Entry, ...]:
        """The best entries, best first; equal scores keep the newer first.

        Args:
            query: What to search for.
            entries: Live entries.
            session: Number of the current session, for recency.
            top_k: How many at most.
        """
        if not entries:
            return ()
        best = order(self.scores(query, entries), entries, session, self._half_life)
        return tuple(entries[i] for i in best[:top_k])

    def scores(self, query: str, entries: tuple[Entry, ...]) -> NDArray[np.float64]:
        """How well each entry fits a query, whatever its age; more is better."""
        if self._kind == "bm25":
            return self._bm25_scores(query, entries)
        if self._kind == "ngram":
            return _ngram_scores(query, entries)
        return fused((self._bm25_scores(query, entries), _ngram_scores(query, entries)))

    def _bm25_scores(self, query: str, entries: tuple[Entry, ...]) -> NDArray[np.float64]:
        import bm25s

        if entries != self._indexed:
            self._indexed = entries
            corpus = [tokens(entry_text(entry)) or ("\0",) for entry in entries]
            self._bm25 = bm25s.BM25(method="lucene")
            self._bm25.index([list(words) for words in corpus], show_progress=False)
        words = list(dict.fromkeys(tokens(query)))
        if not words:
            return np.zeros(len(entries))
        return np.asarray(self._bm25.get_scores(words), dtype=float)


def order(
    scores: NDArray[np.float64], entries: Sequence[Entry], session: int, half_life: int | None
) -> NDArray[np.intp]:
    """Places of entries, best first; equal scores keep the newer first.

    Args:
        scores: Of shape (..., entries); each row is ordered by itself.
        entries: That were scored.
        session: Number of the current session.
        half_life: In sessions, or None where age does not matter.
    """
    aged = np.round(scores, _DIGITS)
    if half_life is not None:
        ages = np.array([session - entry.session for entry in entries], dtype=float)
        aged = aged * 0.5 ** (ages / half_life)
    ids = np.broadcast_to([-entry.id for entry in entries], aged.shape)
    return np.lexsort((ids, -aged), axis=-1)


def fused(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Reciprocal rank fusion of several scores of the same entries."""
    return np.asarray(sum(1.0 / (_FUSION + _ranks(scores)) for scores in parts))


def entry_text(entry: Entry) -> str:
    """What is searched of an entry."""
    return f"{entry.label} {entry.text}"


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Lower-case words; runs of Chinese or Japanese as pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if _CJK.search(word):
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            found.append(word)
    return tuple(found)


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank of each score, from 1 for the highest; equal scores share theirs."""
    known = np.round(scores, _DIGITS)
    better = len(known) - np.searchsorted(np.sort(known), known, side="right")
    return np.asarray(1 + better, dtype=np.float64)


def _ngram_scores(query: str, entries: Sequence[Entry]) -> NDArray[np.float64]:
    from evolve.lm.vectors import vectors

    texts = [query, *(entry_text(entry) for entry in entries)]
    matrix = vectors(texts)
    # Features are hashed with signs, so that texts without a likeness may come out below zero.
    return np.asarray(np.maximum(0, matrix[1:] @ matrix[0]), dtype=np.float64)
