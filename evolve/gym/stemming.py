"""Porter's stemmer for English (Porter 1980, "An algorithm for suffix stripping")."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

_VOWELS = "aeiou"
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word; words of one or two letters stay as they are."""
    if len(word) <= 2:
        return word
    word = _past_and_plural(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    return _tidied(_stripped(word))


def _is_consonant(word: str, place: int) -> bool:
    if word[place] == "y":
        return place == 0 or not _is_consonant(word, place - 1)
    return word[place] not in _VOWELS


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, place) for place in range(len(word)))


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    kinds = [_is_consonant(word, place) for place in range(len(word))]
    return sum(not before and after for before, after in pairwise(kinds))


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _short_end(word: str) -> bool:
    """Whether it ends consonant, vowel, consonant, the last not w, x or y."""
    if len(word) < 3 or word[-1] in "wxy":
        return False
    kinds = [_is_consonant(word, len(word) - back) for back in (3, 2, 1)]
    return kinds == [True, False, True]


def _past_and_plural(word: str) -> str:
    """Step 1: plurals, then -ed and -ing."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            cut = word.removesuffix(suffix)
            return _restored(cut) if _has_vowel(cut) else word
    return word


def _restored(cut: str) -> str:
    """What -ed or -ing was taken from, as it is written without it."""
    if cut.endswith(("at", "bl", "iz")):
        return cut + "e"
    if _doubled(cut) and cut[-1] not in "lsz":
        return cut[:-1]
    return cut + "e" if _measure(cut) == 1 and _short_end(cut) else cut


def _replaced(word: str, endings: dict[str, str]) -> str:
    """With its longest ending of a step replaced, if enough stands before it."""
    found = [ending for ending in endings if word.endswith(ending)]
    if found:
        longest = max(found, key=len)
        rest = word.removesuffix(longest)
        if _measure(rest) > 0:
            return rest + endings[longest]
    return word


def _stripped(word: str) -> str:
    """Step 4: without its longest ending, if much stands before it."""
    found = [ending for ending in _STEP_4 if word.endswith(ending)]
    if not found:
        return word
    longest = max(found, key=len)
    rest = word.removesuffix(longest)
    if _measure(rest) <= 1 or (longest == "ion" and not rest.endswith(("s", "t"))):
        return word
    return rest


def _tidied(word: str) -> str:
    """Step 5: without a last -e, and with one l of two, if much stands before it."""
    if word.endswith("e"):
        rest = word[:-1]
        count = _measure(rest)
        if count > 1 or (count == 1 and not _short_end(rest)):
            word = rest
    if _doubled(word) and word.endswith("l") and _measure(word) > 1:
        word = word[:-1]
    return word
