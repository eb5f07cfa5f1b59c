"""What a store with retrieval shows, and in which order."""

import pytest

from evolve.agents.base import Query
from evolve.agents.recall import Recall
from evolve.agents.store import Store

SETTINGS = {"top_k": 2, "retriever": "bm25", "recency_half_life": None, "memory_order": "time"}


@pytest.fixture
def store(batch_of):
    store = Store(8000)
    for number, text in enumerate(("tea with milk and sugar", "a cat", "tea", "a dog")):
        batch = batch_of(number)
        store.close(batch, (store.add(batch, "", text, batch.ids).id,))
    return store


def shown(store, **settings):
    return [entry.id for entry in Recall(store, {**SETTINGS, **settings}).shown("tea", 3)]


def test_by_time_the_best_stand_oldest_first(store):
    assert shown(store) == [0, 2]
    assert shown(store, top_k=3) == [0, 2, 3]


def test_by_relevance_the_best_stands_first(store):
    assert shown(store, memory_order="relevance") == [2, 0]
    assert shown(store, memory_order="relevance", top_k=9) == [2, 0, 3, 1]


def test_top_k_and_half_life_apply(store):
    assert shown(store, top_k=1) == [2]
    assert shown(store, recency_half_life=1, top_k=1, retriever="ngram") == [2]


def test_retired_entries_are_not_shown_and_new_ones_are(store, batch_of):
    recall = Recall(store, SETTINGS)
    assert [entry.id for entry in recall.shown("tea", 3)] == [0, 2]
    store.retire(2, "superseded")
    store.close(batch_of(4), (store.add(batch_of(4), "", "tea again", ("0.4.0.u",)).id,))
    assert [entry.id for entry in recall.shown("tea", 4)] == [0, 4]


@pytest.mark.parametrize("architecture", ["rag", "awe"])
def test_the_settings_of_the_policy_apply(architecture, agent_of, scripted, talk):
    def writes(request):
        return '{"a": "' + request.messages[-1].content.split("user: ")[-1].split("\n")[0] + '"}'

    agent = agent_of(
        architecture, scripted(writes), write_every=2, local_window=0, top_k=3, retriever="ngram"
    )
    agent.observe(talk(8))
    context = agent.prepare(Query("answer", "Reply so.", "?", "the word5", 1)).context
    assert len(context.entries) == 3
    assert any("word5" in agent.entries[i].text for i in context.entries)
