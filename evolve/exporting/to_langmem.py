"""Export for LangMem: the keyword arguments of its store manager and of its search."""

from __future__ import annotations

from evolve.exporting.account import Export, Fate
from evolve.exporting.instructions import write_instructions
from evolve.exporting.origin import Origin
from evolve.exporting.stores import MOST_SHOWN, Store, store_fates, store_file
from policies.errors import ExportError
from policies.policy import Policy

_STORE = Store(
    "LangMem",
    instructions="manager.instructions",
    limit="search.limit",
    call="each call",
    whole="a store manager, with search",
)
_UPDATES = "LangMem mends a memory in place where a new fact contradicts it"


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
    shown = policy.settings.get("top_k", MOST_SHOWN)
    calls = {
        "manager": {
            "instructions": told.text,
            "enable_inserts": True,
            "enable_deletes": False,
            "query_limit": shown,
        },
        "search": {"limit": shown},
    }
    fates = store_fates(policy, told, _STORE, _special(policy))
    to_do = (
        "hand a model, a namespace and a store to create_memory_store_manager: a policy has none"
    )
    return store_file(policy, origin, told, fates, calls, to_do)


def _special(policy: Policy) -> list[Fate]:
    deletes = "manager.enable_deletes false: no policy has a memory deleted for what was said since"
    return [
        Fate("top_k", "carried", "manager.query_limit and search.limit"),
        Fate("supersede", "carried" if policy.settings.get("supersede") else "lost", _UPDATES),
        Fate("retriever", "lost", "the store ranks, by its own index"),
        Fate("enable_deletes", "added", deletes),
    ]
