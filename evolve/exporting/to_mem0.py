"""Export for mem0 2.x: the keyword arguments of ``from_config``, ``add`` and ``search``."""

from __future__ import annotations

from typing import cast

from evolve.exporting.account import Export, Fate
from evolve.exporting.instructions import write_instructions
from evolve.exporting.origin import Origin
from evolve.exporting.stores import MOST_SHOWN, Store, store_fates, store_file
from policies.errors import ExportError
from policies.policy import Policy

_STORE = Store(
    "mem0",
    instructions="config.custom_instructions",
    limit="search.top_k",
    call="each add",
    whole="add.infer: whether a model writes facts, or messages are stored as they are",
)
_RANKS = "mem0 ranks by its embedder, and by words where the vector store can"
_ADDS = "mem0 2.x only adds"
_NO_THRESHOLD = (
    "search.threshold 0: the policy has none, and mem0 by itself drops what is below 0.1"
)


def to_mem0(policy: Policy, origin: Origin) -> Export:
    """What mem0 takes, under the name of the call that takes it.

    Raises:
        ExportError: The policy keeps no store.
    """
    if policy.architecture in {"none", "native"}:
        raise ExportError(
            f"mem0 stores memories, but architecture {policy.architecture} keeps none; export it "
            "as openai or yaml, or name another version by --policy."
        )
    told = write_instructions(policy)
    calls = {
        "config": {"custom_instructions": told.text} if told.text else {},
        "add": {"infer": policy.settings.get("infer", "write_prompt" in policy.texts)},
        "search": {
            "top_k": policy.settings.get("top_k", MOST_SHOWN),
            "threshold": cast(int, policy.settings.get("threshold", 0)) / 100,
        },
    }
    fates = store_fates(policy, told, _STORE, _special(policy))
    to_do = "add llm, embedder and vector_store to config: a policy names no models"
    return store_file(policy, origin, told, fates, calls, to_do)


def _special(policy: Policy) -> list[Fate]:
    settings = policy.settings
    fates = [
        Fate("top_k", "carried", "search.top_k"),
        Fate("infer", "carried", "add.infer"),
        Fate("retriever", "lost", _RANKS),
    ]
    if "threshold" in settings:
        fates.append(Fate("threshold", "carried", "search.threshold"))
    else:
        fates.append(Fate("threshold", "added", _NO_THRESHOLD))
    if settings.get("supersede"):
        fates.append(Fate("supersede", "lost", f"{_ADDS}, so old values of a fact stay"))
    else:
        fates.append(Fate("supersede", "carried", _ADDS))
    if settings.get("granularity") == "message":
        fates.append(Fate("granularity", "carried", "one memory for each message"))
    else:
        fates.append(Fate("granularity", "yours", "your_code: hand so much to add as a message"))
    return fates
