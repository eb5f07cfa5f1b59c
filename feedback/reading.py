"""What an entry of memory says about a state of the schema, judged from its words alone.

A text *resembles* a state by half the share of the state's name that stands in it, plus half the
share of the best fitting value that stands in it. Its label may name the state instead, as far as
it names nothing else: "diet style" does, "diet style and cooking skill" hardly. A text is *about*
the state if the resemblance is ``FLOOR`` or more, unless another state explains it better: one that
it resembles more (by ``NOISE``; by ``MARGIN`` if the turns behind the entry did not tell it), while
either neither this state's name nor a value of it stands whole in the text, or the two states'
values are the same words. So one entry may be about several states, and "advanced", said of
knitting, is not about pickleball.

About a state, it says the value that it is near to by ``FLOOR`` or more, and nearer than to every
other value of the state by ``MARGIN``; where there is none such, it is unclear. Words that resemble
no name and no value of the schema are about none of its states; that is the limit of judging by
n-grams.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from feedback.similarity import nearness, presence, rivals, share_within, shares, weighted

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOOR = 0.45
MARGIN = 0.15
NOISE = 0.03
_WHOLE = 0.8  # share of a name or value that counts as standing there whole
_SAME_WORDS = 0.5
_KEPT = 20_000  # readings per schema

Schema = tuple[tuple[str, tuple[str, ...]], ...]


class Says(StrEnum):
    """What a text says about one state."""

    TRUE = "the true value"
    ANOTHER = "another value"
    UNCLEAR = "something about it"
    NOTHING = "nothing about it"


@dataclass(frozen=True, slots=True)
class Reading:
    """One text against one schema.

    Attributes:
        resemblance: Per state, 0 to 1.
        whole: Per state, the share of its name or of its best value in the text, 0 to 1.
        near: Per state, the nearness of each of its values, 0 to 1.
    """

    resemblance: Mapping[str, float]
    whole: Mapping[str, float]
    near: Mapping[str, tuple[float, ...]]


class SchemaReader:
    """Reads labelled texts against one schema; what was read before is remembered.

    Args:
        schema: (state, values) pairs, sorted.
    """

    def __init__(self, schema: Schema) -> None:
        self._values = dict(schema)
        self._names = weighted([state for state, _ in schema])
        self._stated = rivals([("", values) for _, values in schema])
        self._rivals = rivals(schema)
        ends = np.cumsum([len(values) for _, values in schema]).tolist()
        self._spans = list(zip([0, *ends[:-1]], ends, strict=True))
        self._kept: dict[tuple[str, str], Reading] = {}

    def read(self, items: Sequence[tuple[str, str]]) -> tuple[Reading, ...]:
        """Readings of (label, text) pairs, all that are new in one batch."""
        new = [item for item in dict.fromkeys(items) if item not in self._kept]
        if new:
            if len(self._kept) + len(new) > _KEPT:
                self._kept.clear()
                new = list(dict.fromkeys(items))
            self._kept.update(zip(new, self._read(new), strict=True))
        return tuple(self._kept[item] for item in items)

    def _read(self, items: Sequence[tuple[str, str]]) -> list[Reading]:
        texts = presence([text for _, text in items])
        named = shares(texts, self._names)
        by_value = shares(texts, self._stated.phrases)
        stated = np.maximum.reduceat(by_value, [start for start, _ in self._spans], axis=1)
        labels = list(dict.fromkeys(label for label, _ in items))
        labelled = dict(zip(labels, self._named_by(labels), strict=True))
        by_label = np.stack([labelled[label] for label, _ in items])
        resemblance = (np.maximum(named, by_label) + stated) / 2
        whole = np.maximum(named, stated)
        near = nearness(texts, self._rivals)
        return [
            Reading(
                dict(zip(self._values, map(float, resemblance[row]), strict=True)),
                dict(zip(self._values, map(float, whole[row]), strict=True)),
                {
                    state: tuple(map(float, near[row, start:end]))
                    for state, (start, end) in zip(self._values, self._spans, strict=True)
                },
            )
            for row in range(len(items))
        ]

    def _named_by(self, labels: Sequence[str]) -> NDArray[np.float64]:
        """How far each label names each state and nothing else, shape (labels, states)."""
        only = [[share_within(label, state) for state in self._values] for label in labels]
        named = shares(presence(labels), self._names)
        return np.multiply(named, np.array(only, dtype=np.float64))

    def says(
        self, item: tuple[str, str], state: str, value: str, told: Collection[str] = ()
    ) -> Says:
        """What a (label, text) pair says about a state whose true value is given.

        Args:
            item: Label and text of an entry.
            state: Name of a state of the schema.
            value: Its true value.
            told: States that the turns behind the entry told.
        """
        (reading,) = self.read([item])
        if not self._about(reading, state, told):
            return Says.NOTHING
        near = dict(zip(self._values[state], reading.near[state], strict=True))
        own = near.pop(value, 0.0)
        other = max(near.values(), default=0.0)
        if own >= FLOOR and own - other >= MARGIN:
            return Says.TRUE
        return Says.ANOTHER if other >= FLOOR and other - own >= MARGIN else Says.UNCLEAR

    def nearest(self, item: tuple[str, str], state: str) -> str:
        """The value of the state that the text is nearest to; the first of equals."""
        (reading,) = self.read([item])
        return self._nearest(reading, state)

    def _nearest(self, reading: Reading, state: str) -> str:
        near = reading.near[state]
        return self._values[state][max(range(len(near)), key=near.__getitem__)]

    def _about(self, reading: Reading, state: str, told: Collection[str]) -> bool:
        own = reading.resemblance[state]
        if own < FLOOR:
            return False
        for other, found in reading.resemblance.items():
            if other == state or found <= own + (NOISE if other in told else MARGIN):
                continue
            if reading.whole[state] < _WHOLE:
                return False
            mine, theirs = self._nearest(reading, state), self._nearest(reading, other)
            if share_within(mine, theirs) >= _SAME_WORDS:
                return False
        return True


def reader_of(schema: Mapping[str, tuple[str, ...]]) -> SchemaReader:
    """The reader of a schema; one per schema and process."""
    return _reader(tuple(sorted(schema.items())))


@lru_cache(maxsize=256)
def _reader(schema: Schema) -> SchemaReader:
    return SchemaReader(schema)
