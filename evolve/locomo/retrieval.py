"""What a store finds of the evidence, measured without any model: recall, precision, size.

The whole dialogue is written first, by the units that the setting ``granularity`` says, and nothing
is retired; then every question is searched for as an agent of architecture ``rag`` would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from evolve.agents.rag import RawTurns
from evolve.agents.retrieve import Retriever, entry_text, fused, order
from evolve.agents.store import Batch, Store
from evolve.lm.base import count_tokens
from evolve.locomo.dialogues import Dialogue, recorded
from feedback.records import Entry
from policies.settings import SETTINGS, SettingValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEARCHED = ("top_k", "retriever", "recency_half_life", "granularity")
"""The settings that decide what is found; all others are as they may be."""

Scorer = Callable[[Sequence[str], tuple[Entry, ...]], "NDArray[np.float64]"]
"""From queries and entries to scores of shape (queries, entries); more is better."""

_MOST_SHOWN = max(setting.high for setting in SETTINGS if setting.name == "top_k")
_ENDLESS = 2**62  # tokens: nothing is retired


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for one question.

    Attributes:
        dialogue: Id of the dialogue.
        question: Number of the question, from 0.
        category: Of the question.
        recall: Share of the evidence turns that is shown, in 0..1.
        precision: Share of what is shown that is evidence, in 0..1, counted in turns.
        tokens: Size of what is shown, in UTF-8 bytes / 4.
    """

    dialogue: str
    question: int
    category: int
    recall: float
    precision: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Means over questions: of recall, precision and tokens shown, and how many there were."""

    recall: float
    precision: float
    tokens: float
    questions: int


def mean_of(found: Sequence[Found]) -> Retrieval:
    """Means over questions, at least one."""
    n = len(found)
    return Retrieval(
        sum(one.recall for one in found) / n,
        sum(one.precision for one in found) / n,
        sum(one.tokens for one in found) / n,
        n,
    )


def by_category(found: Iterable[Found]) -> dict[int, Retrieval]:
    """Means of each category, in order of its number."""
    groups: dict[int, list[Found]] = {}
    for one in found:
        groups.setdefault(one.category, []).append(one)
    return {category: mean_of(groups[category]) for category in sorted(groups)}


def _bm25(queries: Sequence[str], entries: tuple[Entry, ...]) -> NDArray[np.float64]:
    retriever = Retriever("bm25", None)
    return np.stack([retriever.scores(query, entries) for query in queries])


def _ngram(queries: Sequence[str], entries: tuple[Entry, ...]) -> NDArray[np.float64]:
    # All queries at once: one by one, the retriever would copy the entries' vectors for each.
    from evolve.lm.vectors import vectors

    matrix = vectors([entry_text(entry) for entry in entries])
    return np.asarray(np.maximum(0, vectors(queries) @ matrix.T), dtype=np.float64)


SCORERS: Mapping[str, Scorer] = {"bm25": _bm25, "ngram": _ngram}
FUSED: Mapping[str, tuple[str, ...]] = {"hybrid": ("bm25", "ngram")}


@dataclass(frozen=True, slots=True)
class _Written:
    """A dialogue in a store, and what of each entry is evidence.

    Attributes:
        entries: All live.
        questions: Numbers of the questions that have evidence.
        shown: Turns that each entry shows; of one that it shows in part, this share of its
            characters.
        evidence: Of shape (questions, entries): how much of it is evidence, in turns.
        tokens: Of each entry.
    """

    entries: tuple[Entry, ...]
    questions: tuple[int, ...]
    shown: NDArray[np.float64]
    evidence: NDArray[np.float64]
    tokens: NDArray[np.int64]


class Finder:
    """Finds evidence in dialogues by any settings; scores are kept, so that a search is cheap.

    Args:
        dialogues: Are searched.
        scorers: Name of a retriever to what it scores.
        fused: Name of a retriever to the names of those that it fuses.
    """

    def __init__(
        self,
        dialogues: Sequence[Dialogue],
        scorers: Mapping[str, Scorer] = SCORERS,
        fused: Mapping[str, tuple[str, ...]] = FUSED,
    ) -> None:
        self._dialogues = dialogues
        self._scorers, self._fused = scorers, fused
        self._written: dict[tuple[str, str], _Written] = {}
        self._scores: dict[tuple[str, str, str], NDArray[np.float64]] = {}
        self._orders: dict[tuple[str, str, str, int | None], NDArray[np.intp]] = {}

    def among(self, dialogues: Sequence[Dialogue]) -> Finder:
        """The same for some of the dialogues; what was written and scored is shared."""
        some = Finder(dialogues, self._scorers, self._fused)
        some._written, some._scores, some._orders = self._written, self._scores, self._orders
        return some

    def find(self, settings: Mapping[str, SettingValue]) -> tuple[Found, ...]:
        """What every question with evidence finds, by dialogue and question.

        Args:
            settings: At least those of ``SEARCHED``.
        """
        return tuple(found for one in self._dialogues for found in self._find(one, settings))

    def _find(self, dialogue: Dialogue, settings: Mapping[str, SettingValue]) -> Iterable[Found]:
        granularity = str(settings["granularity"])
        written = self._write(dialogue, granularity)
        if not written.questions:
            return
        half_life = cast("int | None", settings["recency_half_life"])
        places = self._order(dialogue, granularity, str(settings["retriever"]), half_life)
        best = places[:, : cast(int, settings["top_k"])]
        hits = np.take_along_axis(written.evidence, best, axis=1).sum(axis=1)
        shown = written.shown[best].sum(axis=1)
        tokens = written.tokens[best].sum(axis=1)
        for row, number in enumerate(written.questions):
            question = dialogue.questions[number]
            recall = float(hits[row]) / len(question.evidence)
            precision = float(hits[row] / shown[row])
            yield Found(dialogue.id, number, question.category, recall, precision, int(tokens[row]))

    def _write(self, dialogue: Dialogue, granularity: str) -> _Written:
        key = dialogue.id, granularity
        if key not in self._written:
            self._written[key] = _written(dialogue, granularity)
        return self._written[key]

    def _order(
        self, dialogue: Dialogue, granularity: str, kind: str, half_life: int | None
    ) -> NDArray[np.intp]:
        """Per question the places of entries, the best first, as many as may be shown."""
        key = dialogue.id, granularity, kind, half_life
        if key not in self._orders:
            entries = self._write(dialogue, granularity).entries
            scores = self._score(dialogue, granularity, kind)
            whole = order(scores, entries, len(dialogue.sessions) - 1, half_life)
            self._orders[key] = whole[:, :_MOST_SHOWN].copy()
        return self._orders[key]

    def _score(self, dialogue: Dialogue, granularity: str, kind: str) -> NDArray[np.float64]:
        key = dialogue.id, granularity, kind
        if key not in self._scores:
            if kind in self._fused:
                parts = [self._score(dialogue, granularity, part) for part in self._fused[kind]]
                rows = [fused(row) for row in zip(*parts, strict=True)]
                self._scores[key] = np.stack(rows)
            else:
                written = self._write(dialogue, granularity)
                queries = [dialogue.questions[number].text for number in written.questions]
                self._scores[key] = self._scorers[kind](queries, written.entries)
        return self._scores[key]


def _written(dialogue: Dialogue, granularity: str) -> _Written:
    heard = recorded(dialogue)
    store = Store(_ENDLESS)
    writer = RawTurns(store, granularity)
    for number, messages in enumerate(heard.periods[0]):
        writer.write(Batch(messages, 0, number))
    entries = store.live
    turns = {turn.id: place for place, turn in enumerate(dialogue.turns)}
    shows = np.zeros((len(turns), len(entries)))
    for entry in entries:
        for source in entry.sources:
            shows[turns[heard.turn_of[source]], entry.id] = len(entry.text)
    # A message that is cut into sentences is shown by each of them in part.
    shows /= shows.sum(axis=1, keepdims=True)
    asked = [n for n, question in enumerate(dialogue.questions) if question.evidence]
    evidence = np.zeros((len(asked), len(entries)))
    for row, number in enumerate(asked):
        for turn in dialogue.questions[number].evidence:
            evidence[row] += shows[turns[turn]]
    tokens = np.array([count_tokens(entry.text) for entry in entries])
    return _Written(entries, tuple(asked), shows.sum(axis=0), evidence, tokens)
