"""The offline model's lexicon: concepts, their values and phrases, as matrices to match against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES = 2**16
SMALL_TALK = "small talk"
_NEAREST = 0.2  # a value is known by its whole vocabulary more than by its nearest phrase
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_STOP_WORDS = """
a an the i me my you your we our us it its he she they them his her their is am are was were be been
being do does did have has had having to of in on at for with and or but so that this these those as
by from up out about into over after before then than too very just if when while there here what
which who how all any some can could will would should ll ve re d s t m get got go goes going
"""
_STOP = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a concept, or one kind of small talk.

    Attributes:
        concept: Name of the concept, or ``SMALL_TALK``.
        name: Name of the value, or the kind.
        kinds: General categories, as vague instructions name them.
        fact: The plain statement of it; ``""`` for small talk.
        fact_zh: The same in Chinese.
    """

    concept: str
    name: str
    kinds: frozenset[str]
    fact: str
    fact_zh: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Everything that the stand-in knows of the world.

    Attributes:
        values: All values, concept by concept, small talk last.
        concepts: Names, in order.
        names: What a concept is called, in any of its words, to the concept.
        kind_words: Kind to the stems by which an instruction means it.
        phrases: Matrix (FEATURES, phrases), unit columns.
        owners: Index of the value of each phrase.
        vocabularies: Matrix (FEATURES, values) of all that is said of a value, unit columns.
        labels: Matrix (FEATURES, concepts) of what the concept is called, unit columns.
        transform: Texts to unit rows in the same space.
    """

    values: tuple[Value, ...]
    concepts: tuple[str, ...]
    names: dict[str, str]
    kind_words: dict[str, tuple[str, ...]]
    phrases: Any
    owners: NDArray[np.int64]
    vocabularies: Any
    labels: Any
    transform: Any

    def scores(self, texts: list[str]) -> NDArray[np.float64]:
        """Similarity of each text with each value, shape (texts, values)."""
        rows = self.transform(texts)
        near = np.asarray((rows @ self.phrases).todense())
        starts = np.searchsorted(self.owners, np.arange(len(self.values)))
        best = np.maximum.reduceat(near, starts, axis=1)
        whole = np.asarray((rows @ self.vocabularies).todense())
        return np.asarray(whole + _NEAREST * best, dtype=np.float64)

    def label_scores(self, texts: list[str]) -> NDArray[np.float64]:
        """Similarity of each text with the name of each concept, shape (texts, concepts)."""
        return np.asarray((self.transform(texts) @ self.labels).todense())


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Read lexicon.yaml and index it, once per process."""
    import yaml
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    def data(name: str) -> Any:
        text = files("evolve.lm").joinpath(name).read_text(encoding="utf-8")
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    raw = data("lexicon.yaml")
    values, phrases, words = _values(raw)
    owners = np.repeat(np.arange(len(values)), [len(p) for p in phrases])
    hashing = HashingVectorizer(
        analyzer=features, n_features=FEATURES, norm=None, alternate_sign=False
    )

    def counts(texts: list[str]) -> Any:
        matrix = hashing.transform(texts)
        matrix.data = np.log1p(matrix.data)
        return matrix

    flat = [phrase for group in phrases for phrase in group]
    # A word of a value's own list counts twice: it was chosen because it tells values apart.
    joined = [" . ".join([*said, *own, *own]) for said, own in zip(phrases, words, strict=True)]
    weights = TfidfTransformer(norm="l2").fit(counts(joined))

    def columns(texts: list[str]) -> Any:
        return weights.transform(counts(texts)).T.tocsr()  # once: a product by .T converts it anew

    labels = [
        " . ".join([c["name"].replace("_", " "), *c["labels"], c["zh"]]) for c in raw["concepts"]
    ]
    return Lexicon(
        values=values,
        concepts=tuple(c["name"] for c in raw["concepts"]),
        names=_names(raw["concepts"]),
        kind_words={kind: tuple(words) for kind, words in data("kinds.yaml").items()},
        phrases=columns(flat),
        owners=owners,
        vocabularies=columns(joined),
        labels=columns(labels),
        transform=lambda texts: weights.transform(counts(texts)),
    )


def features(text: str) -> Iterator[str]:
    """Words twice, pairs of them, stems, character 4-grams; Chinese by character and pair."""
    before = ""
    for word in _WORD.findall(text.lower()):
        if _CJK.search(word):
            yield from word
            yield from (word[i : i + 2] for i in range(len(word) - 1))
        elif word not in _STOP:
            yield f"w:{word}"
            yield f"w:{word}"
            if before:
                yield f"b:{before} {word}"
            before = word
            if len(word) > 4:
                yield f"s:{word[:5]}"
            if len(word) > 3:
                yield f"s:{word[:4]}"
            framed = f"<{word}>"
            yield from (framed[i : i + 4] for i in range(len(framed) - 3))


def is_cjk(text: str) -> bool:
    """Whether a text is written mostly in Chinese or Japanese."""
    return len(_CJK.findall(text)) * 2 > len("".join(_WORD.findall(text)))


def _values(raw: dict[str, Any]) -> tuple[tuple[Value, ...], list[list[str]], list[list[str]]]:
    """Values, and of each its phrases and its list of single words."""
    values, phrases, own = [], [], []
    for concept in raw["concepts"]:
        kinds = frozenset(concept["kinds"])
        for value in concept["values"]:
            zh = value.get("zh", [])
            first = zh[0] if zh else ""
            values.append(Value(concept["name"], value["name"], kinds, value["fact"], first))
            words = value["name"].replace("_", " ")
            phrases.append([value["fact"], words, *value["phrases"], *zh])
            own.append(list(value.get("words", ())))
    for kind, said in raw["small_talk"].items():
        kinds = frozenset() if kind == "none" else frozenset([kind])
        values.append(Value(SMALL_TALK, kind, kinds, "", ""))
        phrases.append(list(said))
        own.append([])
    return tuple(values), phrases, own


def _names(concepts: list[dict[str, Any]]) -> dict[str, str]:
    """Every name of every concept, in plain words, to the concept; the first of a name counts."""
    names: dict[str, str] = {}
    for concept in concepts:
        plain = concept["name"].replace("_", " ")
        for name in (plain, *concept["labels"], concept["zh"]):
            names.setdefault(name.casefold(), concept["name"])
    return names
