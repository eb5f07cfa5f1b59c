"""Agentic writing: one model call turns a batch of messages into labelled facts."""

from __future__ import annotations

from evolve.agents.common import Speaker
from evolve.agents.prompts import conversation_block, memories_block
from evolve.agents.store import Batch, Store
from evolve.agents.stored import Shows
from evolve.lm.asking import Read, ask
from evolve.lm.base import CAPS, Message, Request
from evolve.lm.parse import FormatError, parse_write
from evolve.seeding import derive
from feedback.records import Entry
from policies.placeholders import fill


class LabelledFacts:
    """Writes label → value pairs as the model says, in the policy's words.

    Args:
        speaker: Its policy's ``write_prompt`` and ``memory_types`` apply.
        store: Where the facts go.
        shows: What the model sees of memory while it writes.
        retire_because: Reason recorded when a new fact retires the live ones of the same label,
            or None to keep them. A fact said again in the same words is refreshed in any case.
    """

    def __init__(
        self, speaker: Speaker, store: Store, shows: Shows, retire_because: str | None
    ) -> None:
        self._speaker = speaker
        self._store = store
        self._shows = shows
        self._retire_because = retire_because

    def write(self, batch: Batch) -> None:
        """Write one batch; a reply that cannot be read leaves memory as it was."""
        facts = self._ask(batch).value
        if isinstance(facts, FormatError):
            self._store.close(batch, (), str(facts))
            return
        by_label: dict[str, list[Entry]] = {}
        for entry in self._store.live:
            by_label.setdefault(entry.label.casefold(), []).append(entry)
        made = []
        for label, text in facts.items():
            sources = batch.ids
            for old in by_label.get(label.casefold(), ()):
                if old.text == text:
                    sources = (*old.sources, *sources)
                    self._store.retire(old.id, "superseded")
                elif self._retire_because is not None:
                    self._store.retire(old.id, self._retire_because)
            made.append(self._store.add(batch, label, text, sources).id)
        self._store.close(batch, tuple(made))

    def _ask(self, batch: Batch) -> Read[dict[str, str]]:
        said = "\n".join(message.content for message in batch.messages)
        shown = self._shows.shown(said, batch.session)
        texts = self._speaker.policy.texts
        values = {
            "memory_types": f"<memory_types>\n{texts['memory_types']}\n</memory_types>",
            "memories": memories_block(shown),
            "conversation": conversation_block(batch.messages),
        }
        prompt = (Message("user", fill(texts["write_prompt"], values)),)
        seed = derive(self._speaker.seed, "write", *batch.ids)
        request = Request("write", prompt, seed, CAPS["write"])
        return ask(self._speaker.lm, request, parse_write)
