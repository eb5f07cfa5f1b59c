"""What an export for mem0 does in mem0 itself, whose LLM and embedder answer on loopback."""

from __future__ import annotations

import json
import math

import pytest

from policies.policy import seed_policy
from tests.evolve.exporting.conftest import CANARY
from tests.evolve.lm.chat_server import ChatServer, Play, says

pytestmark = pytest.mark.extra
FACTS = [f"The user keeps bird number {n} below the ground" for n in range(8)]
MESSAGES = [
    {"role": "user", "content": "My canary sits in the mine"},
    {"role": "assistant", "content": "Poor bird."},
]
WHO = {"user_id": "ann"}
DIMENSIONS = 8


@pytest.fixture
def mem0(tmp_path, monkeypatch):
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    return pytest.importorskip("mem0", reason="mem0ai is not installed: make test-extras has it")


@pytest.fixture
def server():
    def play(_, body):
        if "input" not in body:
            facts = [{"id": str(n), "text": fact} for n, fact in enumerate(FACTS)]
            return says(json.dumps({"memory": facts}))
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        data = [
            {"object": "embedding", "index": place, "embedding": vector(text)}
            for place, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return Play(body=json.dumps({"object": "list", "data": data, "model": "m", "usage": usage}))

    with ChatServer(play) as server:
        yield server


def vector(text):
    """Of length 1 and above 0 everywhere, so that nothing is unlike anything."""
    places = range(DIMENSIONS)
    counts = [1.0 + sum(ord(sign) % DIMENSIONS == place for sign in text) for place in places]
    length = math.hypot(*counts)
    return [count / length for count in counts]


@pytest.fixture
def memory_of(mem0, server, tmp_path):
    """mem0 as its users set it up, with what the export gives for its configuration."""
    opened = []

    def memory_of(exported):
        own = {"model": "gpt-4.1-mini", "api_key": "sk-none", "openai_base_url": server.base}
        embedder = {**own, "model": "text-embedding-3-small", "embedding_dims": DIMENSIONS}
        store = {"path": str(tmp_path / "store"), "embedding_model_dims": DIMENSIONS}
        memory = mem0.Memory.from_config(
            {
                **exported["config"],
                "llm": {"provider": "openai", "config": own},
                "embedder": {"provider": "openai", "config": embedder},
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(tmp_path / "history.db"),
            }
        )
        opened.append(memory)
        return memory

    yield memory_of
    for memory in opened:
        memory.llm.client.close()
        memory.embedding_model.client.close()
        memory.vector_store.client.close()
        memory.close()


def test_the_text_reaches_the_prompt_and_top_k_the_search(memory_of, export, server):
    exported = export("mem0")
    memory = memory_of(exported)
    memory.add(MESSAGES, user_id="ann", **exported["add"])
    prompts = [m["content"] for body in server.bodies for m in body.get("messages", ())]
    assert any(CANARY in prompt for prompt in prompts)
    assert any(exported["config"]["custom_instructions"] in prompt for prompt in prompts)
    found = memory.search("canary bird", filters=WHO, **exported["search"])["results"]
    assert len(found) == exported["search"]["top_k"] == 3
    more = memory.search("canary bird", filters=WHO, **{**exported["search"], "top_k": 5})
    assert len(more["results"]) == 5


def test_raw_turns_are_stored_without_a_model(memory_of, export, server):
    exported = export("mem0", seed_policy("rag"))
    memory = memory_of(exported)
    memory.add(MESSAGES, user_id="ann", **exported["add"])
    assert not [body for body in server.bodies if "messages" in body]
    found = memory.search("canary", filters=WHO, **exported["search"])["results"]
    assert {one["memory"] for one in found} == {message["content"] for message in MESSAGES}
