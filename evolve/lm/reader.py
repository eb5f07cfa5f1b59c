"""Comprehension of the offline model: what a sentence, an option or an instruction is about."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evolve.lm.lexicon import SMALL_TALK, Lexicon, Value, is_cjk, load_lexicon

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNDERSTOOD = 0.13  # similarity from which a sentence is taken to be about a value
NAMED = 0.30  # similarity from which a name or an instruction is taken to mean a concept
_NAMED_CJK = 0.12  # the same for an option in Chinese, whose single characters say less
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_CLAUSE = re.compile(r"[,;:，；：.!?。！？]\s*|\s+(?:and|so|with)\s+")
_TIME = re.compile(r"^\[Current Time:[^\]]*\]\s*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a piece of text was understood to say.

    Attributes:
        text: The piece.
        value: The value that it says, small talk included, or None if it said nothing known.
        score: Similarity, about 0 to 1.
        key: A number for the text, the same on every machine, that noise is tied to.
    """

    text: str
    value: Value | None
    score: float
    key: int

    @property
    def concept(self) -> str | None:
        """The concept that it is about, or None for small talk and the unknown."""
        known = self.value is not None and self.value.concept != SMALL_TALK
        return self.value.concept if known and self.value else None

    @property
    def statement(self) -> str:
        """The plain fact in the language of the text; the text itself where none is known."""
        if self.value is None or self.concept is None:
            return self.text
        if is_cjk(self.text):
            return self.value.fact_zh or self.text
        return self.value.fact


class Reader:
    """Reads with the lexicon; everything once read is remembered.

    Args:
        lexicon: What it knows.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._readings: dict[str, Reading] = {}
        self._columns = {
            name: np.array([i for i, v in enumerate(lexicon.values) if v.concept == name])
            for name in lexicon.concepts
        }
        self._scores: dict[str, NDArray[np.float32]] = {}
        first = {v.concept: i for i, v in reversed(list(enumerate(lexicon.values)))}
        self._starts = np.array(sorted(first.values()))

    def read(self, texts: Iterable[str]) -> list[Reading]:
        """Readings of pieces of text, new ones matched in one batch."""
        wanted = list(texts)
        new = [text for text in dict.fromkeys(wanted) if text not in self._readings]
        if new:
            for text, scores in zip(new, self.lexicon.scores(new), strict=True):
                best = int(scores.argmax())
                score = float(scores[best])
                value = self.lexicon.values[best] if score >= UNDERSTOOD else None
                # In this order: who finds a reading in another thread finds its scores, too.
                self._scores[text] = scores.astype(np.float32)
                self._readings[text] = Reading(text, value, score, key_of(text))
        return [self._readings[text] for text in wanted]

    def value_of(self, texts: Sequence[str], concept: str) -> tuple[str, float]:
        """Which value of a concept the pieces of text fit best, and how well."""
        self.read(texts)
        columns = self._columns[concept]
        table = np.max([self._scores[text][columns] for text in texts], axis=0)
        best = int(table.argmax())
        return self.lexicon.values[columns[best]].name, float(table[best])

    def concept_scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """How well the best of the pieces fits each concept, shape (concepts,)."""
        self.read(texts)
        best = np.max([self._scores[text] for text in texts], axis=0)
        return np.maximum.reduceat(best, self._starts)[: len(self.lexicon.concepts)]

    @lru_cache(maxsize=4096)  # noqa: B019  the reader lives as long as the process
    def named(self, name: str) -> str | None:
        """The concept that a name means, or None."""
        plain = name.replace("_", " ").strip().casefold()
        if plain in self.lexicon.names:
            return self.lexicon.names[plain]
        scores = self.lexicon.label_scores([plain])[0]
        best = int(scores.argmax())
        return self.lexicon.concepts[best] if scores[best] >= NAMED else None

    @lru_cache(maxsize=4096)  # noqa: B019
    def options(self, name: str, options: tuple[str, ...]) -> dict[str, str] | None:
        """Lexicon value → option, where a state and all of its options are known; else None."""
        concept = self.named(name)
        if concept is None:
            return None
        own = {self.lexicon.values[column].name for column in self._columns[concept]}
        found: dict[str, str] = {}
        for option in options:
            plain = option.replace("_", " ")
            value, score = (option, 1.0) if option in own else self.value_of([plain], concept)
            if score < (_NAMED_CJK if is_cjk(plain) else NAMED) or value in found:
                return None
            found[value] = option
        return found


@lru_cache(maxsize=1)
def the_reader() -> Reader:
    """The process's reader."""
    return Reader(load_lexicon())


@lru_cache(maxsize=65536)
def sentences(text: str) -> tuple[str, ...]:
    """Sentences of a message, without its time stamp."""
    pieces = _SENTENCE.split(_TIME.sub("", text))
    return tuple(piece.strip() for piece in pieces if piece.strip())


@lru_cache(maxsize=65536)
def clauses(text: str) -> tuple[str, ...]:
    """Clauses of a sentence, and the sentence itself if it has only one."""
    return tuple(piece.strip() for piece in _CLAUSE.split(text) if piece.strip()) or (text,)


@lru_cache(maxsize=65536)
def key_of(text: str) -> int:
    """A 63-bit number for a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1


def uniform(*keys: int) -> float:
    """A number in [0, 1) tied to its keys (splitmix64 over them)."""
    state = 0
    for key in keys:
        state = (state + key + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 31
    return state / 2**64


def normal(seed: int, key: int) -> float:
    """A draw of a standard normal distribution tied to (seed, key)."""
    return _QUANTILES[int(uniform(seed, key) * len(_QUANTILES))]


def _quantiles() -> tuple[float, ...]:
    from statistics import NormalDist

    size = 4096
    return tuple(NormalDist().inv_cdf((i + 0.5) / size) for i in range(size))


_QUANTILES = _quantiles()
