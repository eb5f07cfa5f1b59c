"""How a text is cut into words, runs of words and tokens, the same way in every language.

A word is a run of letters and digits, an apostrophe inside included; ``_`` and ``-`` separate two.
Chinese and Japanese write no spaces, so each of their characters is a word of its own and counts as
half of one: twelve of them weigh what six other words weigh. A placeholder is one word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

_RUN_WEIGHT = 12  # six words of weight 2, or twelve characters of weight 1

_KANA = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = _KANA + _HAN
_LETTER = f"(?:(?![{_UNSPACED}])(?:[^\\W_]|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]))"
_WORD = re.compile(rf"\{{\{{\w+\}}\}}|[{_UNSPACED}]|{_LETTER}+(?:'{_LETTER}+)*")
_UNSPACED_WORD = re.compile(f"[{_UNSPACED}]")

Phrases = Mapping[str, tuple[tuple[str, ...], ...]]
"""First word of a phrase to the phrases that start with it."""


def count_tokens(text: str) -> int:
    """UTF-8 bytes / 4, rounded up: a measure of tokens that needs no model."""
    return -(-len(text.encode()) // 4)


def words(text: str) -> tuple[str, ...]:
    """The words of a text, with width and case folded."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return tuple(_WORD.findall(folded))


def weight(word: str) -> int:
    """1 for a Chinese or Japanese character, 2 for any other word."""
    return 1 if _UNSPACED_WORD.fullmatch(word) else 2


def runs(text_words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Every run of six words, or of twelve Chinese or Japanese characters, as (start, end).

    Where both are mixed a run ends with the word that brings it to that weight.
    """
    weights = [weight(word) for word in text_words]
    end, held = 0, 0
    for start, first in enumerate(weights):
        while held < _RUN_WEIGHT and end < len(weights):
            held += weights[end]
            end += 1
        if held < _RUN_WEIGHT:
            return
        yield start, end
        held -= first


def phrases(texts: Iterable[str]) -> Phrases:
    """Index short texts by their first word, so that ``occurrences`` finds them."""
    by_first: dict[str, set[tuple[str, ...]]] = {}
    for text in texts:
        if phrase := words(text):
            by_first.setdefault(phrase[0], set()).add(phrase)
    return {first: tuple(sorted(found)) for first, found in by_first.items()}


def occurrences(text_words: Sequence[str], wanted: Phrases) -> Iterator[tuple[int, int]]:
    """Where phrases stand in a text as whole words, as (start, end), from left to right."""
    for start, word in enumerate(text_words):
        for phrase in wanted.get(word, ()):
            end = start + len(phrase)
            if tuple(text_words[start:end]) == phrase:
                yield start, end
