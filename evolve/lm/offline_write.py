"""The offline model's role ``write``: which facts of a batch it keeps, and under which label."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evolve.lm.base import Request
from evolve.lm.reader import Reader, Reading, key_of, sentences, the_reader, uniform
from evolve.lm.vectors import vectors

if TYPE_CHECKING:
    from evolve.lm.offline import Capacity

_TYPES = re.compile(r"<memory_types>(.*?)</memory_types>", re.DOTALL)
_CONVERSATION = re.compile(r"<conversation>\n(.*)\n</conversation>", re.DOTALL)
_TURN = re.compile(r"^(user|assistant): ", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
_LEAST_MATCH = 0.12  # below it a sentence fits no remembered type and is left out
_NAMED_FULLY = 0.45  # similarity with a concept's name from which a type asks for just that
_BY_KIND = 0.4  # how well a vague type fits whatever is of its kind
_UNREAD = 0.2  # how well a vague type fits a statement that was not understood
_SALIENCE = 0.25  # what strikes the writer beyond what it was asked for


@dataclass(frozen=True, slots=True)
class _Types:
    """A list of remembered types, understood.

    Attributes:
        labels: What facts are filed under.
        keys: Numbers of the types.
        concepts: Matrix (types, concepts): how well a type asks for a concept.
        kinds: Per type, the kinds that its words mean.
        texts: The types in full.
    """

    labels: tuple[str, ...]
    keys: tuple[int, ...]
    concepts: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    kinds: tuple[frozenset[str], ...]
    texts: tuple[str, ...]


def write(request: Request, capacity: Capacity) -> str:
    """A JSON object of label → fact."""
    prompt = request.messages[-1].content
    reader = the_reader()
    found = _TYPES.search(prompt)
    types = _understand_types(found.group(1).strip() if found else "")
    held = _held(types, request.seed, capacity.held_types)
    facts: list[tuple[float, str, str]] = []
    for reading in reader.read(_said_by_user(prompt)):
        match, label = _best_type(reader, types, held, reading)
        if match >= _LEAST_MATCH:
            pull = match + _SALIENCE * uniform(request.seed, reading.key)
            facts.append((pull, label, reading.statement))
    kept: dict[str, str] = {}
    for _, label, fact in sorted(facts, key=lambda item: (-item[0], item[2])):
        if len(kept) == capacity.kept_facts:
            break
        kept.setdefault(label, fact)  # one value per label: the one that matches better
    return json.dumps(kept, ensure_ascii=False)


def _said_by_user(prompt: str) -> list[str]:
    """Statements of the user; questions tell nothing."""
    found = _CONVERSATION.search(prompt)
    pieces = _TURN.split(found.group(1)) if found else []
    said = [
        sentence
        for role, text in zip(pieces[1::2], pieces[2::2], strict=True)
        if role == "user"
        for sentence in sentences(text)
        if not sentence.endswith(("?", "？"))
    ]
    return list(dict.fromkeys(said))


@lru_cache(maxsize=512)
def _understand_types(text: str) -> _Types:
    reader = the_reader()
    lines = [_BULLET.sub("", line).strip() for line in text.splitlines() if line.strip()]
    if not lines:
        lines = ["anything"]
    scores = reader.lexicon.label_scores([line.replace("_", " ") for line in lines])
    return _Types(
        labels=tuple(_label(line) for line in lines),
        keys=tuple(key_of(line) for line in lines),
        concepts=np.minimum(1.0, scores / _NAMED_FULLY),
        kinds=tuple(_kinds_in(reader, line) for line in lines),
        texts=tuple(lines),
    )


def _label(line: str) -> str:
    """What facts of a type are filed under: its words up to a colon, if it has any there."""
    pieces = [piece.strip() for piece in re.split(r"[:：]", line)]
    return next((piece for piece in pieces if piece), "note")[:80]


def _kinds_in(reader: Reader, line: str) -> frozenset[str]:
    low = line.lower()
    return frozenset(
        kind
        for kind, stems in reader.lexicon.kind_words.items()
        if any(
            re.search(rf"\b{stem}", low) or (stem in low and not stem.isascii()) for stem in stems
        )
    )


def _held(types: _Types, seed: int, capacity: int) -> list[int]:
    """Which of the types the writer has in mind: all, or as many as it can hold."""
    numbers = list(range(len(types.labels)))
    if len(numbers) <= capacity:
        return numbers
    return sorted(sorted(numbers, key=lambda i: uniform(seed, types.keys[i]))[:capacity])


def _best_type(
    reader: Reader, types: _Types, held: list[int], reading: Reading
) -> tuple[float, str]:
    """How well the best remembered type fits a sentence, and that type's label."""
    if reading.value is None:
        return _best_type_unread(types, held, reading.text)
    kinds = reading.value.kinds
    column = reader.lexicon.concepts.index(reading.concept) if reading.concept else None
    best, label = 0.0, ""
    for i in held:
        match = float(types.concepts[i, column]) if column is not None else 0.0
        if types.kinds[i] & kinds:
            match = max(match, _BY_KIND)
        if match > best:
            best, label = match, types.labels[i]
    return best, label


def _best_type_unread(types: _Types, held: list[int], text: str) -> tuple[float, str]:
    """The same for a sentence outside the lexicon: by plain similarity; vague types take it too."""
    rows = vectors([text, *(types.texts[i].replace("_", " ") for i in held)])
    alike = rows[1:] @ rows[0]
    fits = [
        max(2 * float(a), _UNREAD if types.kinds[i] else 0.0)
        for a, i in zip(alike, held, strict=True)
    ]
    best = max(range(len(held)), key=lambda n: (fits[n], float(alike[n]), -n))
    return fits[best], types.labels[held[best]]
