from __future__ import annotations

import numpy as np
import pytest

from evolve.agents.base import Query
from evolve.agents.common import Speaker
from evolve.agents.registry import make_agent
from evolve.lm.offline import OfflineLM
from evolve.locomo.dialogues import recorded
from evolve.locomo.reading import dialogues_of
from evolve.locomo.retrieval import Finder, by_category, mean_of
from policies.policy import seed_policy

BM25 = {"retriever": "bm25", "granularity": "message", "top_k": 2, "recency_half_life": None}


@pytest.fixture
def one(content):
    return dialogues_of(content[:1], "f")


def test_questions_without_evidence_are_left_out(one):
    found = Finder(one).find(BM25)
    assert [each.question for each in found] == [0, 1, 2, 3, 4]
    assert [each.category for each in found] == [1, 2, 3, 4, 5]
    assert list(by_category(found)) == [1, 2, 3, 4, 5]
    assert mean_of(found).questions == 5


def test_recall_and_precision_count_turns(one):
    everything = Finder(one).find({**BM25, "top_k": 50})
    assert [each.recall for each in everything] == pytest.approx([1.0] * 5)
    assert everything[0].precision == pytest.approx(2 / 6)
    assert everything[1].precision == pytest.approx(1 / 6)
    best = Finder(one).find({**BM25, "top_k": 1})
    assert (best[1].recall, best[1].precision) == (1.0, 1.0)
    assert best[0].recall == 0.5


def test_a_sentence_shows_a_turn_in_part(one):
    (_, bought, *_) = Finder(one).find({**BM25, "granularity": "sentence", "top_k": 1})
    assert 0 < bought.recall < 1
    assert bought.precision == 1
    everything = Finder(one).find({**BM25, "granularity": "sentence", "top_k": 50})
    assert everything[1].recall == pytest.approx(1)


def test_a_session_shows_all_of_its_turns(one):
    (_, bought, *_) = Finder(one).find({**BM25, "granularity": "session", "top_k": 1})
    assert (bought.recall, bought.precision) == (1, pytest.approx(1 / 3))


def test_recency_prefers_the_last_session(one):
    def first_first(queries, entries):
        return np.tile(9 - np.arange(len(entries)) / 10, (len(queries), 1))

    finder = Finder(one, {"bm25": first_first})
    old, new = (
        [each.recall for each in finder.find({**BM25, "recency_half_life": half_life, "top_k": 3})]
        for half_life in (None, 1)
    )
    assert old == [0.5, 1, 0, 1, 1]
    assert new == [0.5, 0, 1, 0, 0]


@pytest.mark.parametrize("retriever", ["bm25", "ngram", "hybrid"])
@pytest.mark.parametrize("granularity", ["message", "sentence"])
def test_it_finds_what_an_agent_would_show(one, retriever, granularity):
    """All is written and nothing retired: then the agent's context shows the same."""
    settings = {"top_k": 2, "retriever": retriever, "granularity": granularity}
    whole = {"local_window": 0, "write_every": 2, "max_memory_tokens": 8000}
    policy = seed_policy("rag").derive(settings={**settings, **whole})
    agent = make_agent(Speaker(policy, OfflineLM(), 0))
    heard = recorded(one[0])
    for session in heard.periods[0]:
        agent.observe(session)
    found = {each.question: each for each in Finder(one).find(policy.settings)}
    for number, question in enumerate(one[0].questions):
        if number in found:
            query = Query("answer", "", "", question.text, 0)
            shown = agent.prepare(query).context.entries
            turns = {heard.turn_of[agent.entries[entry].sources[0]] for entry in shown}
            hit = bool(turns & set(question.evidence))
            assert hit == (found[number].recall > 0)


def test_other_scorers_may_be_searched_with(one):
    def last_first(queries, entries):
        return np.tile(np.arange(len(entries), dtype=float), (len(queries), 1))

    finder = Finder(one, {"last": last_first}, {"both": ("last", "last")})
    for kind in ("last", "both"):
        found = finder.find({**BM25, "retriever": kind, "top_k": 3})
        assert [each.recall for each in found] == [0.5, 0, 1, 0, 0]
