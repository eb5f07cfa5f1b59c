"""The offline model's roles ``answer``, ``probe`` and ``bound``: what it believes and chooses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evolve.lm.base import Request
from evolve.lm.offline_memory import Attended, asked, attend, attend_plain, items_of, newer_wins
from evolve.lm.parse import UNKNOWN
from evolve.lm.plain import held
from evolve.lm.reader import clauses, key_of, sentences, the_reader, uniform

if TYPE_CHECKING:
    from evolve.lm.offline import Capacity

_STATES = re.compile(r"<states>\n(.*?)\n</states>", re.DOTALL)
_FACTS = re.compile(r"<facts>\n(.*?)\n</facts>", re.DOTALL)
_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.DOTALL)
_CHOICES = re.compile(r"<choices>\n(.*?)\n</choices>", re.DOTALL)
_CHOICE = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
_LEAST_LIKENESS = 0.03  # plain similarity below which nothing is known of a state
_OF_THE_LIKE = 0.6  # share of the best likeness from which a later memory is preferred
_CLEAR = 0.10  # mean similarity from which choices are taken to speak of a concept
_BESIDE = 0.6  # of the clearest concept, what others need to be spoken of, too
_ASKED = 0.2  # how much the words of the question count beside those of the choices


def choose(request: Request, capacity: Capacity) -> str:
    """The JSON reply to an answer, a probe or an upper bound."""
    if request.task == "probe":
        return _probe(request, capacity)
    said = asked(request.messages)
    block, question = _CHOICES.search(said), _QUESTION.search(said)
    choices = tuple(_CHOICE.findall(block.group(1))) if block else ()
    if not choices:
        return _in_own_words(request, question.group(1) if question else "", capacity)
    meaning = _meaning(question.group(1) if question else "", choices)
    if request.task == "bound":
        scores = _by_facts(request, choices, meaning)
    elif meaning:
        concepts = frozenset(meaning[0])
        attended = attend(items_of(request), concepts, request, capacity)
        scores = _by_beliefs(_beliefs(attended, concepts, request), meaning)
    else:
        about = " ".join([question.group(1) if question else "", *choices])
        attended = attend_plain(items_of(request), about, request, capacity)
        scores = _by_likeness([one.item.reading.text for one in attended], choices)
    return json.dumps({"answer": _best(scores, choices, request.seed) + 1})


def _in_own_words(request: Request, question: str, capacity: Capacity) -> str:
    """What a memory says that is most like the question; the given facts where there are any."""
    facts = _FACTS.search(request.messages[0].content)
    if facts:
        said = "; ".join(line.partition(": ")[2] for line in facts.group(1).split("\n"))
    else:
        attended = attend_plain(items_of(request), question, request, capacity)
        said = _likeliest_text(attended, newest=newer_wins(request))
    return json.dumps({"answer": said}, ensure_ascii=False)


def _likeliest_text(attended: Sequence[Attended], *, newest: bool) -> str:
    """The memory that weighs most, or where newer wins a late one of those that weigh nearly as."""
    if not attended:
        return UNKNOWN
    most = attended[0].weight
    like = [one for one in attended if one.weight >= _OF_THE_LIKE * most] or attended[:1]
    chosen = max(like, key=lambda one: one.item.age) if newest else like[0]
    return chosen.item.reading.text


def _best(scores: Sequence[float], choices: Sequence[str], seed: int) -> int:
    """The highest score; among equals one fixed guess per (user, question), by choice text."""
    top = max(scores)
    equal = [i for i, score in enumerate(scores) if score >= top - 1e-9]
    return max(equal, key=lambda i: (uniform(seed, key_of(choices[i])), i))


def _probe(request: Request, capacity: Capacity) -> str:
    block = _STATES.search(asked(request.messages))
    lines = block.group(1).split("\n") if block else []
    items = items_of(request)
    said: dict[str, str] = {}
    known: dict[str, tuple[str, dict[str, str]]] = {}
    for line in lines:
        name, _, listed = line.partition(": ")
        options = tuple(listed.split(" | "))
        readable = the_reader().options(name, options)
        concept = the_reader().named(name)
        if readable is None or concept is None:
            attended = attend_plain(items, f"{name} {listed}".replace("_", " "), request, capacity)
            said[name] = _likeliest_option(attended, options, newer_wins(request))
        else:
            known[name] = concept, readable
    concepts = frozenset(concept for concept, _ in known.values())
    if concepts:
        beliefs = _beliefs(attend(items, concepts, request, capacity), concepts, request)
        for name, (concept, readable) in known.items():
            said[name] = readable.get(beliefs.get(concept, ""), UNKNOWN)
    return json.dumps(said, ensure_ascii=False)


def _beliefs(
    attended: Sequence[Attended], concepts: frozenset[str], request: Request
) -> dict[str, str]:
    """Concept → the value of the memory that weighs most, or is newest where newer values win."""
    newest = newer_wins(request)
    best: dict[str, tuple[float, float, str]] = {}
    for one in attended:
        concept, value = one.item.reading.concept, one.item.reading.value
        if concept not in concepts or concept is None or value is None:
            continue
        rank = (float(one.item.age) if newest else 0.0, one.weight, value.name)
        best[concept] = max(best.get(concept, rank), rank)
    return {concept: value for concept, (_, _, value) in best.items()}


@lru_cache(maxsize=8192)
def _meaning(question: str, choices: tuple[str, ...]) -> tuple[Mapping[str, str], ...]:
    """Per choice: concept → value that it speaks of; empty where the lexicon does not reach.

    The concepts are those that the choices together speak of most, the question's own words
    helping; of each, a choice's value is the one that any of its clauses fits best.
    """
    reader = the_reader()
    pieces = [tuple(c for s in sentences(ch) for c in clauses(s)) or ("",) for ch in choices]
    spoken_of = np.mean([reader.concept_scores(parts) for parts in pieces], axis=0)
    spoken_of += _ASKED * reader.lexicon.label_scores([question])[0]
    least = max(_CLEAR, _BESIDE * float(spoken_of.max()))
    concepts = [c for c, n in zip(reader.lexicon.concepts, spoken_of, strict=True) if n >= least]
    meaning = tuple({c: reader.value_of(parts, c)[0] for c in concepts} for parts in pieces)
    return meaning if len({tuple(m.items()) for m in meaning}) > 1 else ()


def _by_beliefs(beliefs: Mapping[str, str], meaning: Sequence[Mapping[str, str]]) -> list[float]:
    return [float(sum(beliefs.get(c) == v for c, v in choice.items())) for choice in meaning]


def _by_facts(
    request: Request, choices: tuple[str, ...], meaning: Sequence[Mapping[str, str]]
) -> list[float]:
    """Scores by facts that are given as true."""
    block = _FACTS.search(request.messages[0].content)
    lines = [line[2:] for line in block.group(1).split("\n")] if block else []
    beliefs: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        concept = the_reader().named(name)
        if concept is not None:
            beliefs[concept] = the_reader().value_of([value.replace("_", " ")], concept)[0]
    if meaning and set(meaning[0]) & set(beliefs):
        return _by_beliefs(beliefs, meaning)
    return _by_likeness([line.partition(": ")[2] for line in lines], choices)


def _by_likeness(texts: Sequence[str], choices: tuple[str, ...]) -> list[float]:
    """Per choice, how much of what is known stands in it, beyond what stands in all."""
    if not texts:
        return [0.0] * len(choices)
    alike = held(texts, choices, choices)
    return [float(score) for score in np.sum(alike - alike.mean(axis=1, keepdims=True), axis=0)]


def _likeliest_option(attended: Sequence[Attended], options: tuple[str, ...], newest: bool) -> str:
    """The option of which most stands in a memory, or where newer wins in a late one of the like.

    Memories that hold nearly as much of an option as the best does are of the like.
    """
    if not attended:
        return UNKNOWN
    alike = held(options, [one.item.reading.text for one in attended], options)
    most = float(alike.max())
    if most < _LEAST_LIKENESS:
        return UNKNOWN
    ranked = [
        (one.item.age if newest else 0, float(alike[:, column].max()), -column)
        for column, one in enumerate(attended)
        if float(alike[:, column].max()) >= _OF_THE_LIKE * most
    ]
    return options[int(alike[:, -max(ranked)[2]].argmax())]
