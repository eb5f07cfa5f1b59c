"""The banks of phrases: complete, well formed, and strangers to the offline model's lexicon."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
import yaml

from evolve.gym.sample_bank import VARIANTS, Bank, read_bank
from evolve.gym.sample_talk import FRAMES

RUN = 4  # words in a row that bank and lexicon may not share


@pytest.fixture(params=VARIANTS)
def bank(request: pytest.FixtureRequest) -> Bank:
    return read_bank(str(request.param))


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


def runs(text: str) -> set[tuple[str, ...]]:
    own = words(text)
    return {tuple(own[at : at + RUN]) for at in range(len(own) - RUN + 1)}


def revealing(bank: Bank) -> list[str]:
    return [s for p in bank.phrases.values() for s in (*p.implied, *p.explicit)]


def everything(bank: Bank) -> list[str]:
    """All phrases of a bank, whatever they are for."""
    return [
        *revealing(bank),
        *(clause for phrases in bank.phrases.values() for clause in phrases.clause),
        *bank.factors.values(),
        *(request for own in bank.requests.values() for request in own),
        *bank.advice,
        *bank.generic,
        *bank.empty,
        *FRAMES,
    ]


@cache
def lexicon() -> tuple[str, ...]:
    """All texts of the lexicon; names are the schema's own and no phrases."""

    def texts(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            for key in sorted(node):
                if key != "name":
                    yield from texts(node[key])
        elif isinstance(node, list):
            for item in node:
                yield from texts(item)
        elif isinstance(node, str):
            yield node

    source = (files("evolve.lm") / "lexicon.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return tuple(texts(yaml.load(source, Loader=loader)))


def test_a_bank_is_complete(bank: Bank) -> None:
    types = [state for states in bank.schema.values() for state in states]
    assert len(bank.schema) == 3
    assert all(len(states) == 12 for states in bank.schema.values())
    assert bank.factors.keys() == set(types)
    assert len(set(bank.factors.values())) == len(types)
    for phrases in bank.phrases.values():
        assert [len(phrases.implied), len(phrases.explicit), len(phrases.clause)] == [4, 2, 2]
    assert {len(own) for own in bank.requests.values()} == {8}
    assert [len(bank.advice), len(bank.generic), len(bank.empty)] == [20, 70, 30]
    counts = Counter(everything(bank))
    assert max(counts.values()) == 1


def test_phrases_have_the_form_that_the_generator_needs(bank: Bank) -> None:
    said = [*revealing(bank), *bank.generic, *bank.empty]
    said += [request for own in bank.requests.values() for request in own]
    for sentence in said:
        assert sentence == sentence.strip()
        assert sentence[0].isupper()
        assert sentence[-1] in ".?!"
        assert not re.search(r"[.?!] ", sentence)
    for own in bank.requests.values():
        assert all(request.endswith("?") for request in own)
    for phrases in bank.phrases.values():
        assert all(clause.startswith(("you ", "your ")) for clause in phrases.clause)
    fragments = [clause for phrases in bank.phrases.values() for clause in phrases.clause]
    for fragment in [*fragments, *bank.advice, *bank.factors.values()]:
        assert fragment[0].islower() or fragment.startswith("I'd ")
        assert fragment[-1] not in ".,;?! "


def test_implied_sentences_rarely_name_their_value(bank: Bank) -> None:
    named = [
        (value, sentence)
        for (_, value), phrases in bank.phrases.items()
        for sentence in phrases.implied
        if f" {' '.join(value.split('_'))} " in f" {' '.join(words(sentence))} "
    ]
    share = len(named) / (4 * len(bank.phrases))
    print(f"{share:.4f} of the implied sentences name their value word for word: {named}")
    assert share < 0.02


def test_small_talk_names_no_value(bank: Bank) -> None:
    values = {" ".join(value.split("_")) for _, value in bank.phrases}
    talk = [f" {' '.join(words(s))} " for s in (*bank.generic, *bank.empty)]
    assert not [(v, t) for t in talk for v in values if f" {v} " in t]


def test_the_banks_share_no_sentence() -> None:
    one, other = (set(everything(read_bank(variant))) - set(FRAMES) for variant in VARIANTS)
    assert not one & other
    mine, theirs = (
        {run for sentence in revealing(read_bank(variant)) for run in runs(sentence)}
        for variant in VARIANTS
    )
    print(f"{len(mine & theirs)} of {len(mine)} runs of {RUN} words are in both banks")


def test_bank_and_lexicon_share_no_run_of_four_words(bank: Bank) -> None:
    known = {run for text in lexicon() for run in runs(text)}
    shared = {s: found for s in everything(bank) if (found := runs(s) & known)}
    assert not shared


def test_the_highest_similarity_of_bank_and_lexicon_is_bounded(bank: Bank) -> None:
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), alternate_sign=False)
    phrases = everything(bank)
    similarity = vectorizer.transform(phrases) @ vectorizer.transform(lexicon()).T
    best = similarity.max(axis=1).toarray().ravel()
    at = int(best.argmax())
    near = lexicon()[int(similarity[[at]].toarray().argmax())]
    print(f"highest similarity {best[at]:.3f} (mean {best.mean():.3f}): {phrases[at]!r}, {near!r}")
    assert best[at] < 0.95
    assert best.mean() < 0.6
