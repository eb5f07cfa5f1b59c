"""Export as an agent configuration of AMemGym (github.com/AGI-Eval-Official/amemgym)."""

from __future__ import annotations

from evolve.exporting.account import ARCHITECTURE, Export, Fate, json_file, notes, settled
from evolve.exporting.instructions import Instructions, items, write_instructions
from evolve.exporting.origin import Origin
from policies.errors import ExportError
from policies.policy import Policy

TYPES = {"native": "native", "rag": "rag", "awe": "awe", "awi": "awi", "mem0": "awe"}
"""Architecture to AMemGym's type of agent."""

FACTS = (
    'Answer with one JSON object and nothing else, {"facts": ["...", "..."]}, an empty list where '
    "there is nothing to write down."
)
"""What mem0 1.x, which AMemGym runs, reads of a custom prompt for facts."""

_MODEL = "gpt-4.1-mini"
_MOST_TOKENS = 8192
_FIXED = "AMemGym's own words, in its code"
_STORE = "mem0 1.x does it in its own way"


def to_amemgym(policy: Policy, origin: Origin) -> Export:
    """The configuration, with the keys that AMemGym reads and one that it does not, for notes.

    Raises:
        ExportError: AMemGym has no agent of the kind.
    """
    if policy.architecture not in TYPES:
        raise ExportError(
            f"AMemGym has agents of the types {', '.join(sorted(set(TYPES.values())))}, but none "
            f"without memory, and the architecture is {policy.architecture}; export it as openai "
            "or yaml."
        )
    kind = TYPES[policy.architecture]
    told = write_instructions(policy)
    left_out = told.left_out if kind == "awe" else ()
    fates = settled(policy, _fates(policy, kind, told), _STORE)
    content: dict[str, object] = {
        "type": kind,
        "name": f"{policy.name or policy.architecture}-{policy.short_id}",
        "llm_config": {
            "base_url": None,  # AMemGym takes these two from the environment
            "api_key": None,
            "llm_model": _MODEL,
            "temperature": 0.0,
            "max_tokens": _MOST_TOKENS,
            "source": "agent:interaction",
        },
    }
    if kind in {"rag", "awe"}:
        content["memory_config"] = _memory_config(told)
    if kind != "native":
        content["agent_config"] = _agent_config(policy, kind)
    if kind == "awi":
        content["info_types"] = items(policy.texts["memory_types"])
    content["mnemotune"] = notes(policy, origin, fates, left_out)
    to_do = [f"name your model where llm_model is {_MODEL}"]
    if kind in {"rag", "awe"}:
        to_do.append("name the models of memory_config: a policy names none")
    return Export(json_file(content), fates, tuple(to_do), left_out)


def _agent_config(policy: Policy, kind: str) -> dict[str, object]:
    settings = policy.settings
    config: dict[str, object] = {"update_bsz": settings["write_every"]}
    if kind != "awi":
        config["top_k"] = settings["top_k"]
    config["local_length"] = settings["local_window"]
    if kind != "awi":
        config["enable_llm_mem_policy"] = settings.get("infer", kind == "awe")
    return config


def _memory_config(told: Instructions) -> dict[str, object]:
    """What AMemGym hands to mem0; it puts the files of the store where it needs them."""
    config: dict[str, object] = {
        "vector_store": {
            "provider": "milvus",
            "config": {"url": None, "collection_name": "mnemotune"},
        },
        "llm": {"provider": "openai", "config": {"model": _MODEL}},
        "embedder": {"provider": "openai", "config": {"model": "text-embedding-3-small"}},
        "history_db_path": None,
        "version": "v1.1",
    }
    if told.text:
        config["custom_fact_extraction_prompt"] = f"{told.text}\n\n{FACTS}"
    return config


def _fates(policy: Policy, kind: str, told: Instructions) -> list[Fate]:
    fates = [
        Fate(ARCHITECTURE, "carried", f"type {kind}"),
        Fate("reply_prompt", "lost", _FIXED),
        Fate("answer_prompt", "lost", _FIXED),
        Fate("write_every", "carried", "agent_config.update_bsz"),
        Fate("local_window", "carried", "agent_config.local_length"),
        Fate("top_k", "carried", "agent_config.top_k"),
        Fate("infer", "carried", "agent_config.enable_llm_mem_policy"),
        Fate("context_tokens", "lost", "the native agent shows its whole history"),
    ]
    if kind == "awi":
        unbounded = "a dictionary grows without bound there"
        fates += [
            Fate("memory_types", "carried", "info_types, an entry each"),
            Fate("write_prompt", "lost", _FIXED),
            Fate("max_memory_tokens", "lost", unbounded),
        ]
    if kind == "awe":
        prompt = "memory_config.custom_fact_extraction_prompt"
        fates += [
            told.types_fate(prompt),
            told.fate(prompt),
        ]
    time = policy.settings.get("memory_order") == "time"
    order = "memories stand in the order of time there"
    return [*fates, Fate("memory_order", "carried" if time else "lost", order)]
