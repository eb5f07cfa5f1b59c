"""Agent configurations of AMemGym as policies, and the way back from an export."""

from __future__ import annotations

import json

import pytest

from evolve.exporting.formats import FORMATS
from evolve.exporting.origin import Origin
from evolve.importing.amemgym_config import import_amemgym, is_amemgym
from policies.errors import ImportSourceError
from policies.policy import seed_policy

BUFFER = {"update_bsz": 2, "local_length": 4}


def config(kind, **parts):
    return {"type": kind, "name": f"my-{kind}", "llm_config": {"api_key": "sk-secret"}, **parts}


@pytest.mark.parametrize(
    ("kind", "infers", "architecture"),
    [
        ("native", True, "native"),
        ("awi", True, "awi"),
        ("awi-evolve", True, "awi"),
        ("awe", True, "awe"),
        ("awe", False, "rag"),
        ("rag", False, "rag"),
    ],
)
def test_types_are_architectures(kind, infers, architecture):
    numbers = {**BUFFER, "top_k": 30, "enable_llm_mem_policy": infers}
    imported = import_amemgym(config(kind, agent_config=numbers), "file")
    policy = imported.policy
    assert (policy.architecture, policy.name) == (architecture, f"my-{kind}")
    if architecture != "native":
        assert (policy.settings["write_every"], policy.settings["local_window"]) == (2, 4)
    if "top_k" in policy.settings:
        assert (policy.settings["top_k"], policy.settings["memory_order"]) == (30, "time")
    assert "sk-secret" not in str(imported)


def test_numbers_that_a_policy_may_not_have_become_the_nearest():
    numbers = {"update_bsz": 7, "local_length": 3, "top_k": 99}
    imported = import_amemgym(config("rag", agent_config=numbers), "file")
    told = {one.found: one.becomes for one in imported.findings}
    assert imported.policy.settings["write_every"] == 8
    assert told["agent_config.top_k"].startswith("setting top_k 50, the nearest that it may be")


@pytest.mark.parametrize("architecture", ["awe", "awi", "rag"])
def test_an_export_comes_back(architecture):
    seed = seed_policy(architecture)
    text = FORMATS["amemgym"](seed, Origin("tuned to no model", False)).text
    again = import_amemgym(json.loads(text), "file").policy
    assert again.architecture == architecture
    for name in ("write_every", "local_window", "top_k"):
        assert again.settings.get(name) == seed.settings.get(name)
    assert again.texts.get("memory_types") == seed.texts.get("memory_types")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"type": "memoryos"}, "type must be one of"),
        ({"type": ["awi"]}, "type must be one of"),
        ({"agent_config": [1]}, "agent_config must be a mapping"),
        ({"agent_config": {"update_bsz": "two"}}, "update_bsz must be a whole number"),
        ({"agent_config": {"update_bsz": True}}, "update_bsz must be a whole number"),
        ({"info_types": "diet"}, "info_types must be a list"),
        ({"info_types": []}, "info_types must be a list"),
        ({"memory_config": 1}, "memory_config must be a mapping"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(parts, said):
    with pytest.raises(ImportSourceError, match=said):
        import_amemgym({**config("awi"), **parts}, "file")


def test_other_configurations_are_none():
    assert is_amemgym(config("awi"))
    assert not is_amemgym({"type": "awi"})
    assert not is_amemgym({"llm_config": {}})
