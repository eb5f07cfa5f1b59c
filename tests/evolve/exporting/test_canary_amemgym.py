"""An export for AMemGym has the keys that its agents read, by type of agent, and one for notes.

The keys are those of the configurations in github.com/AGI-Eval-Official/amemgym and its forks, and
``info_types``, which its in-context agent reads where it is there.
"""

from __future__ import annotations

import pytest

from policies.policy import seed_policy
from tests.evolve.exporting.conftest import CANARY

LLM = {"base_url", "api_key", "llm_model", "temperature", "max_tokens", "source"}
MEMORY = {"vector_store", "llm", "embedder", "history_db_path", "version"}
BUFFER = {"update_bsz", "local_length"}
SEARCH = BUFFER | {"top_k", "enable_llm_mem_policy"}
COMMON = {"type", "name", "llm_config", "mnemotune"}
LAYOUTS = {
    "native": COMMON,
    "awi": COMMON | {"agent_config", "info_types"},
    "rag": COMMON | {"memory_config", "agent_config"},
    "awe": COMMON | {"memory_config", "agent_config"},
}


@pytest.mark.parametrize("kind", LAYOUTS)
def test_the_keys_are_those_of_the_reference(kind, export):
    config = export("amemgym", seed_policy(kind))
    assert config.keys() == LAYOUTS[kind]
    assert config["type"] == kind
    assert config["llm_config"].keys() == LLM
    if "agent_config" in config:
        assert config["agent_config"].keys() == (BUFFER if kind == "awi" else SEARCH)
    if "memory_config" in config:
        prompt = {"custom_fact_extraction_prompt"} if kind == "awe" else set()
        assert config["memory_config"].keys() == MEMORY | prompt


def test_texts_and_numbers_stand_where_the_reference_reads_them(export, policy):
    config = export("amemgym")
    assert config["agent_config"] == {
        "update_bsz": 4,
        "top_k": 3,
        "local_length": 4,
        "enable_llm_mem_policy": True,
    }
    prompt = config["memory_config"]["custom_fact_extraction_prompt"]
    assert CANARY in prompt
    assert '{"facts"' in prompt
    assert export("amemgym", seed_policy("rag"))["agent_config"]["enable_llm_mem_policy"] is False


def test_a_list_of_types_becomes_entries(export):
    seed = seed_policy("awi")
    types = "- one: a thing\n  said on two lines\n\n2. two: another\n"
    config = export("amemgym", seed.derive(texts={"memory_types": types}))
    assert config["info_types"] == ["one: a thing said on two lines", "two: another"]
