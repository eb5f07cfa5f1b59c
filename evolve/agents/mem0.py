"""Architecture ``mem0``: mem0 2.x extracts, keeps and finds memories, in the policy's words."""

from __future__ import annotations

from typing import cast

from evolve.agents.common import Speaker
from evolve.agents.mem0_store import Mem0Store, Messages
from evolve.agents.store import Batch, Store
from evolve.agents.stored import StoreAgent
from evolve.lm.asking import ask
from evolve.lm.base import CAPS, Message, Request
from evolve.lm.extraction import as_reply, undated
from evolve.lm.parse import FormatError, parse_memories
from evolve.seeding import derive
from feedback.records import Entry
from policies.placeholders import fill

_EXTRACTED = "fact"  # mem0 knows no labels; without one an entry would be a turn as it was said


def mem0_agent(speaker: Speaker) -> StoreAgent:
    """An agent over a mem0 store of its own; nothing in it is ever retired.

    Raises:
        ConfigError: The package mem0ai is missing.
    """
    store = Store(None)
    memories = Memories(speaker, store)
    return StoreAgent(speaker, store, memories, memories)


class Memories:
    """Writes to mem0 and retrieves from it, and keeps the entries that its memories stand for.

    Args:
        speaker: Its policy's ``write_prompt`` with ``memory_types`` are mem0's custom instructions.
        store: Where the entries go.
    """

    def __init__(self, speaker: Speaker, store: Store) -> None:
        self._speaker = speaker
        self._store = store
        self._mem0 = Mem0Store(self._extract)
        self._entries: dict[str, Entry] = {}
        self._asking_for: tuple[str, ...] = ()
        self._unread: str | None = None

    def write(self, batch: Batch) -> None:
        """Write one batch; a reply that cannot be read leaves memory as it was."""
        self._asking_for, self._unread = batch.ids, None
        infer = bool(self._speaker.policy.settings["infer"])
        given = [{"role": one.role, "content": one.content} for one in batch.messages]
        made = []
        for number, (name, text) in enumerate(
            self._mem0.add(given, self._instructions(), infer=infer)
        ):
            if infer:
                entry = self._store.add(batch, _EXTRACTED, text, batch.ids)
            else:
                said = batch.messages[number]
                entry = self._store.add(batch, "", f"{said.role}: {text}", (said.id,))
            self._entries[name] = entry
            made.append(entry.id)
        self._store.close(batch, tuple(made), self._unread)

    def shown(self, query: str, session: int) -> tuple[Entry, ...]:
        """What mem0 finds for a query, best first."""
        settings = self._speaker.policy.settings
        threshold = cast(int, settings["threshold"]) / 100
        found = self._mem0.search(query, cast(int, settings["top_k"]), threshold)
        return tuple(self._entries[one] for one in found)

    def _instructions(self) -> str:
        texts = self._speaker.policy.texts
        types = f"<memory_types>\n{texts['memory_types']}\n</memory_types>"
        return fill(texts["write_prompt"], {"memory_types": types})

    def _extract(self, messages: Messages) -> str:
        """What the model replies to mem0's own prompt."""
        prompt = undated(Message(one["role"], one["content"]) for one in messages)
        seed = derive(self._speaker.seed, "write", *self._asking_for)
        read = ask(
            self._speaker.lm, Request("write", prompt, seed, CAPS["write"]), parse_memories
        ).value
        if isinstance(read, FormatError):
            self._unread = str(read)
            return as_reply(())
        return as_reply(read)
