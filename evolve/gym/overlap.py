"""How far an answer in own words agrees with the right one: token F1, and refusal.

As the LoCoMo benchmark measures it: commas, case, punctuation and the words a, an, the, and do not
count, and words are compared by their stems.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping
from statistics import fmean

from evolve.gym.stemming import stem

_IGNORED = re.compile(r"\b(?:a|an|the|and)\b")
_NO_SIGNS = str.maketrans("", "", string.punctuation)
_REFUSALS = ("no information available", "not mentioned")
REFUSAL = "No information available"
"""What an answer says where there is none."""


def token_f1(said: str, right: str) -> float:
    """Harmonic mean of the shares of words that agree, in 0..1."""
    mine, other = _stems(said), _stems(right)
    same = sum((Counter(mine) & Counter(other)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(mine), same / len(other)
    return 2 * precision * recall / (precision + recall)


def parts_f1(said: str, right: str) -> float:
    """Of an answer in several parts, by commas: each right part's best F1, on average."""
    mine = said.split(",")
    return fmean(max(token_f1(one, part) for one in mine) for part in right.split(","))


def refusal(said: str, right: str) -> float:
    """1 where an answer says that there is none, else 0; what would be right does not matter."""
    return float(any(words in said.lower() for words in _REFUSALS))


OVERLAPS: Mapping[str, Callable[[str, str], float]] = {
    "tokens": token_f1,
    "parts": parts_f1,
    "refusal": refusal,
}
"""Match rule of a question to its measure, from 0 to 1."""

ENOUGH = 0.5
"""From this on an answer counts as right, where it must be right or wrong."""

RIGHT = (
    f"an answer counts as right from a token F1 of {ENOUGH} on, to a question about what was never "
    "said if it refuses"
)
"""What every report on such answers must say."""


def _stems(text: str) -> list[str]:
    plain = text.lower().translate(_NO_SIGNS)
    return [stem(word) for word in _IGNORED.sub(" ", plain).split()]
