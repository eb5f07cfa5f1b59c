"""Plain reading of text outside the lexicon: how much of one text is found in another."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evolve.lm.lexicon import features

if TYPE_CHECKING:
    from numpy.typing import NDArray


def held(parts: Sequence[str], wholes: Sequence[str], among: Sequence[str]) -> NDArray[np.float64]:
    """Share of each part's words and n-grams that each whole holds, the rarer the more.

    What stands in every text of ``among`` tells nothing and counts nothing.

    Args:
        parts: Short texts, such as values.
        wholes: Texts that may hold them.
        among: The alternatives, parts or wholes, between which it is to tell.

    Returns:
        Shape (parts, wholes), from 0 to about log(len(among) + 1).
    """
    found = Counter(feature for text in among for feature in _features(text))
    weight = {f: math.log((len(among) + 1) / (n + 1)) for f, n in found.items()}
    rarest = math.log(len(among) + 1)
    table = np.zeros((len(parts), len(wholes)))
    for row, part in enumerate(parts):
        mine = _features(part)
        for column, whole in enumerate(wholes):
            both = mine & _features(whole)
            table[row, column] = sum(sorted(weight.get(f, rarest) for f in both))
        table[row] /= max(1, len(mine))
    return table


@lru_cache(maxsize=65536)
def _features(text: str) -> frozenset[str]:
    return frozenset(features(text.replace("_", " ")))
