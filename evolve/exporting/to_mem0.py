"""Export for mem0 2.x: the keyword arguments of ``from_config``, ``add`` and ``search``."""

from __future__ import annotations

from typing import cast

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

_RANKS = "mem0 ranks by its embedder, and by words where the vector store can"
_ADDS = "mem0 2.x only adds"
_OTHERWISE = "mem0 has nothing like it"


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
    fates = settled(policy, [*_of_texts(policy, told), *_of_settings(policy)], _OTHERWISE)
    content = {
        "config": {"custom_instructions": told.text} if told.text else {},
        "add": {"infer": policy.settings.get("infer", "write_prompt" in policy.texts)},
        "search": {
            "top_k": policy.settings.get("top_k", MOST_SHOWN),
            # mem0 drops what scores below 0.1 by itself; where a policy has no threshold, nothing.
            "threshold": cast(int, policy.settings.get("threshold", 0)) / 100,
        },
        "your_code": your_code(policy, fates),
        "mnemotune": notes(policy, origin, fates, told.left_out),
    }
    to_do = "add llm, embedder and vector_store to config: a policy names no models"
    return Export(json_file(content), fates, (to_do,), told.left_out)


def _of_texts(policy: Policy, told: Instructions) -> list[Fate]:
    reply = "your_code: mem0 writes no replies; put what search returns where it says {{memories}}"
    fates = [Fate(name, "yours", reply) for name in ("reply_prompt", "answer_prompt")]
    if policy.architecture == "awi":
        shown = f"mem0 shows what it finds and never all: search.top_k {MOST_SHOWN} stands for it"
        fates.append(Fate(ARCHITECTURE, "lost", shown))
    else:
        infer = "add.infer: whether a model writes facts, or messages are stored as they are"
        fates.append(Fate(ARCHITECTURE, "carried", infer))
    instructions = "config.custom_instructions"
    fates.append(Fate("memory_types", "carried", instructions))
    fates.append(told.fate(instructions))
    return fates


def _of_settings(policy: Policy) -> list[Fate]:
    settings = policy.settings
    fates = [
        Fate("top_k", "carried", "search.top_k"),
        Fate("threshold", "carried", "search.threshold"),
        Fate("infer", "carried", "add.infer"),
        Fate("write_every", "yours", "your_code: hand so many messages to each add"),
        Fate("local_window", "yours", "your_code: keep so many messages in the prompt, unwritten"),
        Fate("retriever", "lost", _RANKS),
        Fate("max_memory_tokens", "lost", "mem0 keeps whatever was added"),
    ]
    if settings.get("supersede"):
        fates.append(Fate("supersede", "lost", f"{_ADDS}, so old values of a fact stay"))
    else:
        fates.append(Fate("supersede", "carried", _ADDS))
    if settings.get("recency_half_life") is None:
        fates.append(Fate("recency_half_life", "carried", "off, as mem0 has no weight by age"))
    if settings.get("memory_order") == "time":
        sort = "your_code: sort what search returns by created_at"
        fates.append(Fate("memory_order", "yours", sort))
    else:
        fates.append(Fate("memory_order", "carried", "search returns the best first"))
    if settings.get("granularity") == "message":
        fates.append(Fate("granularity", "carried", "one memory for each message"))
    else:
        fates.append(Fate("granularity", "yours", "your_code: hand so much to add as a message"))
    return fates
