"""What an export for LangMem does in LangMem itself, with a model that keeps what it is asked."""

from __future__ import annotations

import pytest

from tests.evolve.exporting.conftest import CANARY

pytestmark = pytest.mark.extra
pytest.importorskip("langmem", reason="langmem is not installed: make test-extras has it")


@pytest.fixture
def chat():
    """A chat model that makes eight memories of every conversation."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    asked = []

    class Chat(BaseChatModel):
        def bind_tools(self, tools, **how):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **how):
            asked.append([str(message.content) for message in messages])
            calls = [
                {"name": "Memory", "args": {"content": f"The user keeps bird {n}"}, "id": str(n)}
                for n in range(8)
            ]
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])

        @property
        def _llm_type(self):
            return "canary"

    model = Chat()
    model.metadata = {"asked": asked}
    return model


def test_the_text_reaches_the_extraction_and_top_k_the_search(chat, export):
    from langgraph.store.memory import InMemoryStore
    from langmem import create_memory_store_manager

    exported = export("langmem")
    store = InMemoryStore()
    manager = create_memory_store_manager(
        chat, namespace=("memories",), store=store, **exported["manager"]
    )
    manager.invoke({"messages": [{"role": "user", "content": "My canary sits in the mine"}]})
    prompts = [text for messages in chat.metadata["asked"] for text in messages]
    assert any(CANARY in prompt for prompt in prompts)
    assert any(exported["manager"]["instructions"] in prompt for prompt in prompts)
    assert len(store.search(("memories",), limit=50)) == 8
    assert len(manager.search(query="bird", **exported["search"])) == 3
    assert manager.query_limit == exported["manager"]["query_limit"] == 3
