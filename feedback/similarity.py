"""How much of a phrase stands in a text, by character n-grams: short texts of any script, batched.

The n-grams of a word of an alphabet are its three and four letters in a row, word ends included,
and the word itself; those of Chinese, Japanese and Korean, where words may have no spaces between
them, are single characters and pairs. A name such as ``large_citywide_event`` is read as words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIMENSIONS = 2**18
_SURPLUS = 0.2  # what a text says beyond a phrase counts little against it
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def ngrams(text: str) -> list[str]:
    """All n-grams of a text in order, repetitions included."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        for run in _RUN.findall(word):
            if _IS_UNSPACED.match(run):
                found += run
                found += [run[i : i + 2] for i in range(len(run) - 1)]
            else:
                padded = f" {run} "
                found.append(padded)
                found += [padded[i : i + n] for n in (3, 4) for i in range(len(padded) - n + 1)]
    return found


@lru_cache(maxsize=16_384)
def ngram_set(text: str) -> frozenset[str]:
    """The distinct n-grams of a text."""
    return frozenset(ngrams(text))


def share_within(text: str, other: str) -> float:
    """Share of a text's distinct n-grams that another text has too, 0 to 1; 0 without n-grams."""
    own = ngram_set(text)
    return len(own & ngram_set(other)) / len(own) if own else 0.0


def presence(texts: Sequence[str]) -> Any:
    """Which n-grams each text has.

    Returns:
        A sparse matrix of 0 and 1, shape (len(texts), hashed n-grams).
    """
    return _vectorizer().transform(texts)


def weighted(phrases: Sequence[str], name: str = "") -> Any:
    """The n-grams of phrases that are to be told apart.

    An n-gram counts 1 / number of the phrases that have it, and half of that if it stands in
    ``name`` too: in "no tracking", a value of the tracking tool, "no" says more than "tracking".

    Returns:
        A sparse matrix, shape (len(phrases), hashed n-grams).
    """
    found = presence(phrases)
    # Sums over all hashed n-grams as one array would take most of the time.
    spread = np.bincount(found.indices)
    named = np.isin(found.indices, presence([name]).indices if name else ())
    found.data = found.data / spread[found.indices] * np.where(named, 0.5, 1.0)
    return found


def shares(present: Any, phrases: Any) -> NDArray[np.float64]:
    """How much of each phrase stands in each text.

    Args:
        present: From ``presence``, for the texts.
        phrases: From ``weighted``.

    Returns:
        Shape (texts, phrases), each 0 to 1.
    """
    return np.asarray((present @ phrases.T).toarray() / _sizes(phrases), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Rivals:
    """Phrases in groups; those of one group compete for a text.

    Attributes:
        phrases: Sparse matrix of all phrases, group by group, as from ``weighted``.
        unions: Sparse matrix, per group, of the heaviest weight that any of its phrases has.
        group: Per phrase, the number of its group.
    """

    phrases: Any
    unions: Any
    group: NDArray[np.int64]


def rivals(groups: Sequence[tuple[str, Sequence[str]]]) -> Rivals:
    """Prepare groups of phrases.

    Args:
        groups: Per group, the name that its phrases share (see ``weighted``), and the phrases, at
            least one.
    """
    from scipy.sparse import vstack

    found = [weighted(phrases, name) for name, phrases in groups]
    group = np.repeat(np.arange(len(found)), [matrix.shape[0] for matrix in found])
    unions = vstack([matrix.max(axis=0).tocsr() for matrix in found], format="csr")
    return Rivals(vstack(found, format="csr"), unions, group)


def nearness(present: Any, known: Rivals) -> NDArray[np.float64]:
    """How near each text is to each phrase, where the phrases of a group compete for it.

    Tversky's index over the n-grams of the group: the common part, divided by the common part,
    what the text lacks of the phrase, and a fifth of what it has of the group's other phrases.

    Args:
        present: From ``presence``, for the texts.
        known: The phrases.

    Returns:
        Shape (texts, phrases), each 0 to 1.
    """
    common = (present @ known.phrases.T).toarray()
    of_group = (present @ known.unions.T).toarray()[:, known.group]
    surplus = np.maximum(of_group - common, 0.0)
    return np.asarray(common / (_sizes(known.phrases) + _SURPLUS * surplus), dtype=np.float64)


def _sizes(phrases: Any) -> NDArray[np.float64]:
    sizes: NDArray[np.float64] = np.asarray(phrases.sum(axis=1), dtype=np.float64).ravel()
    return np.maximum(sizes, 1e-12)


@lru_cache(maxsize=1)
def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        analyzer=ngrams, n_features=_DIMENSIONS, binary=True, norm=None, alternate_sign=False
    )
