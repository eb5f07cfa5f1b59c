"""Ranking of entries: by words, by n-grams, by both, and by age."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.agents.retrieve import Retriever, tokens
from evolve.lm.vectors import vectors
from feedback.records import Entry

KINDS = ("bm25", "ngram", "hybrid")
TEXTS = (
    "I drink green tea in the morning",
    "my cat sleeps all day",
    "tea tea tea",
    "the train to work was late again and I had no tea",
    "we watched a film about trains",
)


def entries(*texts, sessions=None):
    return tuple(
        Entry(i, "", text, (f"0.{i}.0.u",), i, 0, sessions[i] if sessions else 0)
        for i, text in enumerate(texts)
    )


def order(kind, query, found, *, half_life=None, session=0, top_k=50):
    ranked = Retriever(kind, half_life).rank(query, found, session, top_k)
    return [entry.id for entry in ranked]


def bm25(query, texts, k1=1.5, b=0.75):
    """Lucene's BM25, written out."""
    documents = [text.lower().split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for words in documents:
        score = 0.0
        for word in dict.fromkeys(query.lower().split()):
            having = sum(word in other for other in documents)
            often = words.count(word)
            rarity = log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            score += rarity * often / (often + k1 * (1 - b + b * len(words) / mean))
        scores.append(score)
    return scores


def by_score(scores):
    """Ids, best first, equal ones newest first."""
    return sorted(range(len(scores)), key=lambda i: (-round(scores[i], 6), -i))


@pytest.mark.parametrize(
    "query", ["tea", "green tea", "the train to work", "cat day film", "zebra"]
)
def test_bm25_is_lucenes(query):
    assert order("bm25", query, entries(*TEXTS)) == by_score(bm25(query, TEXTS))


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1).map(" ".join), min_size=1, max_size=8),
    st.lists(st.sampled_from("abcde"), min_size=1).map(" ".join),
)
def test_bm25_is_lucenes_whatever_is_searched(texts, query):
    assert order("bm25", query, entries(*texts)) == by_score(bm25(query, texts))


def test_a_word_said_twice_in_a_query_counts_once():
    found = entries("cat", "tea tea dog", "tea")
    assert order("bm25", "cat tea", found) == order("bm25", "cat cat cat cat tea", found)


def test_ngrams_find_parts_of_words():
    found = entries("a long bicycle ride", "a letter to my aunt", "nothing else")
    assert order("ngram", "cycling on bikes and bicycles", found)[0] == 0
    assert order("bm25", "cycling on bikes and bicycles", found)[0] == 2  # no word is the same


def test_ngram_is_cosine_similarity():
    rows = vectors(["tea in the morning", *(f" {text}" for text in TEXTS)])
    scores = [max(0.0, float(row @ rows[0])) for row in rows[1:]]
    assert order("ngram", "tea in the morning", entries(*TEXTS)) == by_score(scores)


def test_hybrid_adds_the_reciprocal_ranks():
    query = "green tea for a trainee"
    words = bm25(query, TEXTS)
    rows = vectors([query, *(f" {text}" for text in TEXTS)])
    likeness = [max(0.0, float(row @ rows[0])) for row in rows[1:]]

    def rank(scores, i):
        return 1 + sum(other > scores[i] + 1e-6 for other in scores)

    fused = [1 / (60 + rank(words, i)) + 1 / (60 + rank(likeness, i)) for i in range(len(TEXTS))]
    assert order("hybrid", query, entries(*TEXTS)) == by_score(fused)


@pytest.mark.parametrize("kind", KINDS)
class TestEveryKind:
    def test_equal_scores_keep_the_newer_first(self, kind):
        assert order(kind, "tea", entries(*["tea"] * 5)) == [4, 3, 2, 1, 0]
        assert order(kind, "tea", entries("tea", *["tea"] * 40), top_k=3) == [40, 39, 38]
        assert order(kind, "", entries("a", "b")) == [1, 0]

    def test_top_k_cuts_the_same_order(self, kind):
        found = entries(*TEXTS)
        whole = order(kind, "tea on a train", found)
        assert sorted(whole) == [0, 1, 2, 3, 4]
        for top_k in range(1, 6):
            assert order(kind, "tea on a train", found, top_k=top_k) == whole[:top_k]

    def test_nothing_to_rank(self, kind):
        assert order(kind, "tea", ()) == []

    def test_texts_without_words(self, kind):
        assert sorted(order(kind, "?!", entries("…", "", "tea"))) == [0, 1, 2]
        assert order(kind, "tea", entries("…", "", "tea"))[0] == 2

    def test_chinese(self, kind):
        found = entries("我早上喝绿茶", "猫整天睡觉", "火车今天又晚点了")
        assert order(kind, "绿茶", found)[0] == 0
        assert order(kind, "今天的火车", found)[0] == 2

    def test_the_label_is_searched_too(self, kind):
        found = (
            Entry(0, "favourite drink", "tea", ("0.0.0.u",), 0, 0, 0),
            Entry(1, "pet", "a cat", ("0.0.0.u",), 0, 0, 0),
            Entry(2, "", "walks", ("0.0.0.u",), 0, 0, 0),
        )
        assert order(kind, "favourite drink", found)[0] == 0

    def test_half_life(self, kind):
        found = entries("tea", "tea", "milk", sessions=(5, 4, 8))
        ranked = order(kind, "tea", found, half_life=4, session=8)
        assert ranked.index(0) < ranked.index(1)
        assert order(kind, "tea", found)[:2] == [1, 0]
        assert order(kind, "milk", found, half_life=32, session=8)[0] == 2

    def test_the_current_session_changes_no_order(self, kind):
        found = entries(*TEXTS, sessions=(0, 3, 3, 7, 9))
        orders = {
            tuple(order(kind, "tea on a train", found, half_life=5, session=now))
            for now in (9, 10, 40)
        }
        assert len(orders) == 1

    def test_a_retriever_follows_its_entries(self, kind):
        retriever, found = Retriever(kind, None), entries(*TEXTS)
        for some in (found[:2], found, found[1:], found[:2]):
            again = retriever.rank("tea on a train", some, 0, 9)
            assert [e.id for e in again] == order(kind, "tea on a train", some)


@pytest.mark.parametrize("half_life", [1, 5, 32])
def test_the_half_life_formula(half_life):
    sessions = (0, 9, 2, 5, 9)
    scores = [
        score * 0.5 ** ((9 - session) / half_life)
        for score, session in zip(bm25("green tea for the cat", TEXTS), sessions, strict=True)
    ]
    found = entries(*TEXTS, sessions=sessions)
    ranked = order("bm25", "green tea for the cat", found, half_life=half_life, session=9)
    assert ranked == by_score(scores)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 3 o'clock_now", ("it", "s", "3", "o", "clock", "now")),
        ("ÉTÉ", ("été",)),
        ("我喝茶", ("我喝", "喝茶")),
        ("茶", ("茶",)),
        ("お茶です", ("お茶", "茶で", "です")),
        ("?!", ()),
    ],
)
def test_tokens(text, words):
    assert tokens(text) == words
