"""Configurations of mem0 as policies, and the way back from an export."""

from __future__ import annotations

import json
import math

import pytest

from evolve.exporting.formats import FORMATS
from evolve.exporting.origin import Origin
from evolve.importing.mem0_config import import_mem0, is_mem0
from policies.errors import ImportSourceError
from policies.policy import seed_policy

SEED = seed_policy("mem0")
LIST = "Types to remember:\n- diet: food\n- work: jobs\n- travel: trips\n"


def told(imported):
    return {one.found: one.becomes for one in imported.findings}


def test_instructions_with_a_list():
    models = {"llm": {"config": {"api_key": "sk-secret"}}, "vector_store": {}}
    imported = import_mem0({**models, "custom_instructions": f"Be brief.\n\n{LIST}"}, "mine")
    policy = imported.policy
    assert (policy.architecture, policy.name) == ("mem0", "mine")
    assert policy.texts["memory_types"] == "- diet: food\n- work: jobs\n- travel: trips\n"
    assert policy.texts["write_prompt"] == "Be brief.\n\nTypes to remember:\n{{memory_types}}\n"
    assert policy.settings == SEED.settings
    assert told(imported)["llm"] == "not in a policy: name the model by --model"
    assert "sk-secret" not in str(imported)


@pytest.mark.parametrize("key", ["custom_instructions", "custom_fact_extraction_prompt"])
def test_instructions_without_a_list_keep_the_seeds_types(key):
    policy = import_mem0({key: "Be brief."}, "mine").policy
    assert policy.texts["write_prompt"].startswith("Be brief.\n\nTypes of information")
    assert policy.texts["memory_types"] == SEED.texts["memory_types"]


def test_of_two_instructions_the_newer_kind_counts():
    both = {"custom_instructions": "New.", "custom_fact_extraction_prompt": "Old."}
    imported = import_mem0(both, "mine")
    assert imported.policy.texts["write_prompt"].startswith("New.")
    assert "custom_instructions counts" in told(imported)["custom_fact_extraction_prompt"]


def test_a_configuration_without_words_is_the_seed():
    assert import_mem0({"version": "v1.1", "llm": {}}, "mine").policy.id == SEED.id


def test_an_export_comes_back():
    evolved = SEED.derive(settings={"top_k": 7, "threshold": 35, "infer": False})
    text = FORMATS["mem0"](evolved, Origin("tuned to no model", False)).text
    again = import_mem0(json.loads(text), "mine").policy
    assert again.settings == evolved.settings
    assert again.texts == evolved.texts


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"custom_instructions": 1}, "must be a text"),
        ({"custom_instructions": " "}, "must be a text"),
        ({"custom_instructions": "See {{notes}}"}, "nothing fills"),
        ({"config": 1, "search": {}}, "config must be a mapping"),
        *(
            ({"config": {}, "search": {"threshold": number}}, "threshold must be a number from 0")
            for number in (math.nan, math.inf, -math.inf, 10**400)
        ),
        ({"config": {}, "search": {"top_k": "five"}}, "search.top_k must be a whole number"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(content, said):
    with pytest.raises(ImportSourceError, match=said):
        import_mem0(content, "mine")


def test_other_configurations_are_none():
    assert is_mem0({"embedder": {}})
    assert is_mem0({"config": {}, "search": {}})
    assert not is_mem0({})
    assert not is_mem0({"schema": 1})
