"""What mem0 and LangMem share: memories in a store that is searched, and code around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evolve.exporting.account import ARCHITECTURE, Export, Fate, json_file, notes, settled
from evolve.exporting.instructions import Instructions
from evolve.exporting.origin import Origin
from policies.policy import Policy

MOST_SHOWN = 50
"""Memories that stand for all of them where a target only searches: the most that top_k may be."""

_SHOW = "put what search returns where it says {{memories}}"


@dataclass(frozen=True, slots=True)
class Store:
    """A target, in the words of its accounts.

    Attributes:
        name: What people call it.
        instructions: Where in the file the instructions stand.
        limit: Where in the file the number of memories stands that a search returns.
        call: What writes memories.
        whole: How it carries over the architecture of a policy that searches a store.
    """

    name: str
    instructions: str
    limit: str
    call: str
    whole: str


def store_file(
    policy: Policy,
    origin: Origin,
    told: Instructions,
    fates: tuple[Fate, ...],
    calls: Mapping[str, object],
    to_do: str,
) -> Export:
    """The file: arguments by the call that takes them, what is left to code, and the account.

    Args:
        policy: What is exported.
        origin: What it was tuned to.
        told: Its instructions.
        fates: Of its parts.
        calls: Name of a call to its keyword arguments.
        to_do: What has to be filled in by hand.
    """
    parts = {**policy.texts, **policy.settings}
    yours = {f.part: parts[f.part] for f in fates if f.how == "yours" and f.part in parts}
    account = notes(policy, origin, fates, told.left_out)
    content = {**calls, "your_code": yours, "mnemotune": account}
    return Export(json_file(content), fates, (to_do,), told.left_out)


def store_fates(
    policy: Policy, told: Instructions, store: Store, special: list[Fate]
) -> tuple[Fate, ...]:
    """What becomes of each part of a policy in a store.

    Args:
        policy: What is exported.
        told: Its instructions.
        store: The target.
        special: What only this target does; it stands above what all stores do.
    """
    reply = f"your_code: {store.name} writes no replies; {_SHOW}"
    texts = [Fate(name, "yours", reply) for name in ("reply_prompt", "answer_prompt")]
    texts += [told.types_fate(store.instructions), told.fate(store.instructions)]
    common = [_architecture(policy, store), *texts, *_of_settings(policy, store)]
    return settled(policy, [*common, *special], f"{store.name} has nothing like it")


def _architecture(policy: Policy, store: Store) -> Fate:
    if policy.architecture == "awi":
        shown = f"a store is searched, never shown whole: {store.limit} {MOST_SHOWN} stands for it"
        return Fate(ARCHITECTURE, "lost", shown)
    return Fate(ARCHITECTURE, "carried", store.whole)


def _of_settings(policy: Policy, store: Store) -> list[Fate]:
    fates = [
        Fate("write_every", "yours", f"your_code: hand so many messages to {store.call}"),
        Fate("local_window", "yours", "your_code: keep so many messages in the prompt, unwritten"),
        Fate("max_memory_tokens", "lost", "a store keeps whatever was put there"),
    ]
    if policy.settings.get("recency_half_life") is None:
        fates.append(Fate("recency_half_life", "carried", "off, as a store has no weight by age"))
    if policy.settings.get("memory_order") == "time":
        sort = "your_code: sort what search returns by created_at"
        fates.append(Fate("memory_order", "yours", sort))
    else:
        fates.append(Fate("memory_order", "carried", "search returns the best first"))
    return fates
