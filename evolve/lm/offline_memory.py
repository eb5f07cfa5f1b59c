"""What the offline model sees of a prompt's memories, facts and turns, and what it attends to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from evolve.lm.base import Message, Request
from evolve.lm.reader import Reading, normal, sentences, the_reader, uniform
from evolve.lm.vectors import vectors

if TYPE_CHECKING:
    from evolve.lm.offline import Capacity

_MEMORIES = re.compile(r"<memories>\n(.*?)\n</memories>", re.DOTALL)
_LINE = re.compile(r"^- \[session (\d+)\] (.*)$")
_RAW = re.compile(r"(?:^|\s)(user|assistant): ")
_NEWER_WINS = re.compile(
    r"\b(?:newer|newest|latest|most recent|more recent|up[- ]to[- ]date|outdated|superseded?)\b"
    r"|最新|最近|新的"
)
_OUTRIGHT = 0.32  # similarity from which a sentence says a value outright
_NOW = 1_000_000  # turns in context are newer than any memory
_ON_TOPIC, _OFF_TOPIC = 0.55, 0.2  # relevance of a memory about what is asked, and of another
_SURENESS = 0.35  # what a memory about what is asked gains by being clear


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a prompt shows.

    Attributes:
        reading: What it was understood to say.
        age: Larger is newer.
        raw: It is a turn as it was said, not a fact that was written down.
    """

    reading: Reading
    age: int
    raw: bool


@dataclass(frozen=True, slots=True)
class Attended:
    """An item that was weighed, and how much it weighed."""

    item: Item
    weight: float


def items_of(request: Request) -> list[Item]:
    """Everything that the prompt shows of the user: memory lines, then turns in context."""
    shown: list[Item] = []
    block = _MEMORIES.search(told(request))
    if block:
        for line in block.group(1).split("\n"):
            shown += _memory_items(line)
    turns: Sequence[Message] = request.messages[1:-1]
    for number, turn in enumerate(turns):
        if turn.role == "user":
            shown += _turn_items(turn.content, _NOW + number)
    return shown


def newer_wins(request: Request) -> bool:
    """Whether the instructions say that newer values win."""
    return _says_newer_wins(instructions(request))


def instructions(request: Request) -> str:
    """The prompt's own words, memories aside."""
    return _MEMORIES.sub("", told(request))


def told(request: Request) -> str:
    """The system message, and the paragraphs with memories at the head of the last one."""
    return f"{request.messages[0].content}\n\n{_parted(request.messages[-1].content)[0]}"


def asked(messages: Sequence[Message]) -> str:
    """The last message without those paragraphs: what was said or asked."""
    return _parted(messages[-1].content)[1]


def _parted(last: str) -> tuple[str, str]:
    paragraphs = last.split("\n\n")
    shown = list(takewhile(lambda paragraph: "<memories>\n" in paragraph, paragraphs))
    return "\n\n".join(shown), "\n\n".join(paragraphs[len(shown) :])


@lru_cache(maxsize=4096)
def _says_newer_wins(instructions: str) -> bool:
    return _NEWER_WINS.search(instructions.lower()) is not None


def attend(
    items: Sequence[Item], concepts: frozenset[str], request: Request, capacity: Capacity
) -> list[Attended]:
    """The few items that are weighed for a question about concepts, heaviest first.

    Noise is tied to (user and question, memory) through the request's seed, so that two policies
    that hold the same memories answer alike.
    """
    relevance = []
    items = _seen(items, request, capacity)
    for item in items:
        reading = item.reading
        if reading.concept in concepts:
            relevance.append(_ON_TOPIC + _SURENESS * min(1.0, reading.score / 0.3))
        else:
            relevance.append(_OFF_TOPIC)
    return _heaviest(items, relevance, request, capacity)


def attend_plain(
    items: Sequence[Item], about: str, request: Request, capacity: Capacity
) -> list[Attended]:
    """The same for a question outside the lexicon: relevance is plain n-gram similarity.

    The most similar item is as relevant as a clear one about what is asked.
    """
    if not items:
        return []
    rows = vectors([about, *(item.reading.text for item in items)])
    alike = np.maximum(rows[1:] @ rows[0], 0.0)
    most = max(float(alike.max()), 1e-6)
    relevance = [(_ON_TOPIC + _SURENESS) * float(a) / most for a in alike]
    return _heaviest(items, relevance, request, capacity)


def _fresh(items: Sequence[Item], capacity: Capacity) -> set[int]:
    """Ages of the turns just before the question."""
    turns = sorted({item.age for item in items if item.age >= _NOW}, reverse=True)
    return set(turns[: capacity.fresh_turns])


def _seen(items: Sequence[Item], request: Request, capacity: Capacity) -> list[Item]:
    """Items that are seen for what they say: facts, fresh turns, and of other turns a share."""
    fresh = _fresh(items, capacity)
    return [
        item
        for item in items
        if not item.raw
        or item.age in fresh
        or item.reading.score >= _OUTRIGHT
        or uniform(request.seed, item.reading.key) < capacity.insight
    ]


def _heaviest(
    items: Sequence[Item], relevance: Sequence[float], request: Request, capacity: Capacity
) -> list[Attended]:
    told, fresh = newer_wins(request), _fresh(items, capacity)
    ages = sorted({item.age for item in items})
    rank = {age: (number + 1) / len(ages) for number, age in enumerate(ages)}
    weighed = [
        Attended(
            item,
            weight
            + capacity.attention_noise * normal(request.seed, item.reading.key)
            + _pull(item, told, item.age in fresh, capacity) * rank[item.age],
        )
        for item, weight in zip(items, relevance, strict=True)
    ]
    weighed.sort(key=lambda one: (-one.weight, -one.item.age, one.item.reading.key))
    return weighed[: capacity.attended]


def _pull(item: Item, told: bool, fresh: bool, capacity: Capacity) -> float:
    """How much the newest of items like this one gains in relevance.

    Where nothing is said of newer values, what names its session or was just said gains all the
    same, as its time is plain to see.
    """
    if told:
        return capacity.recency_pull
    return capacity.dated_pull if fresh or not item.raw else 0.0


@lru_cache(maxsize=65536)
def _memory_items(line: str) -> tuple[Item, ...]:
    found = _LINE.match(line)
    if found is None:
        return ()
    session, text = int(found.group(1)), found.group(2)
    pieces = _RAW.split(text)
    if len(pieces) > 1:
        said = [
            sentence
            for role, turn in zip(pieces[1::2], pieces[2::2], strict=True)
            if role == "user"
            for sentence in sentences(turn)
        ]
        return tuple(Item(reading, session, True) for reading in the_reader().read(said))
    label, colon, fact = text.partition(": ")
    (reading,) = the_reader().read([fact if colon else label])
    return (Item(reading, session, False),)


@lru_cache(maxsize=65536)
def _turn_items(content: str, age: int) -> tuple[Item, ...]:
    return tuple(Item(reading, age, True) for reading in the_reader().read(sentences(content)))
