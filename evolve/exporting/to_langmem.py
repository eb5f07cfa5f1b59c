"""Export for LangMem: the keyword arguments of its store manager and of its search."""

from __future__ import annotations

from evolve.exporting.account import (
    ARCHITECTURE,
    MOST_SHOWN,
    Export,
    Fate,
    json_file,
    notes,
    settled,
    your_code,
)
from evolve.exporting.instructions import Instructions, write_instructions
from evolve.exporting.origin import Origin
from policies.errors import ExportError
from policies.policy import Policy

_OTHERWISE = "LangMem has nothing like it"


def to_langmem(policy: Policy, origin: Origin) -> Export:
    """What LangMem takes, under the name of the call that takes it.

    Raises:
        ExportError: No model writes this policy's memory.
    """
    if "write_prompt" not in policy.texts:
        raise ExportError(
            f"LangMem's memories are written by a model, but architecture {policy.architecture} "
            "has none write; export it as openai or yaml, or name another version by --policy."
        )
    told = write_instructions(policy)
    fates = settled(policy, [*_of_texts(policy, told), *_of_settings(policy)], _OTHERWISE)
    shown = policy.settings.get("top_k", MOST_SHOWN)
    content = {
        "manager": {
            "instructions": told.text,
            "enable_inserts": True,
            "enable_deletes": False,
            "query_limit": shown,
        },
        "search": {"limit": shown},
        "your_code": your_code(policy, fates),
        "mnemotune": notes(policy, origin, fates, told.left_out),
    }
    to_do = (
        "hand a model, a namespace and a store to create_memory_store_manager: a policy has none"
    )
    return Export(json_file(content), fates, (to_do,), told.left_out)


def _of_texts(policy: Policy, told: Instructions) -> list[Fate]:
    reply = "your_code: put what search returns where it says {{memories}}"
    fates = [Fate(name, "yours", reply) for name in ("reply_prompt", "answer_prompt")]
    fates.append(Fate("memory_types", "carried", "manager.instructions"))
    fates.append(told.fate("manager.instructions"))
    if policy.architecture == "awi":
        shown = f"a store is searched, never shown whole: search.limit {MOST_SHOWN} stands for it"
        fates.append(Fate(ARCHITECTURE, "lost", shown))
    else:
        fates.append(Fate(ARCHITECTURE, "carried", "a store manager, with search"))
    return fates


def _of_settings(policy: Policy) -> list[Fate]:
    settings = policy.settings
    updates = "LangMem mends a memory in place where a new fact contradicts it"
    fates = [
        Fate("top_k", "carried", "manager.query_limit and search.limit"),
        Fate("supersede", "carried" if settings.get("supersede") else "lost", updates),
        Fate("write_every", "yours", "your_code: hand so many messages to each call"),
        Fate("local_window", "yours", "your_code: keep so many messages in the prompt, unwritten"),
        Fate("retriever", "lost", "the store ranks, by its own index"),
        Fate("max_memory_tokens", "lost", "a store keeps whatever was put there"),
    ]
    if settings.get("recency_half_life") is None:
        fates.append(Fate("recency_half_life", "carried", "off, as a store has no weight by age"))
    if settings.get("memory_order") == "time":
        sort = "your_code: sort what search returns by created_at"
        fates.append(Fate("memory_order", "yours", sort))
    else:
        fates.append(Fate("memory_order", "carried", "search returns the best first"))
    return fates
