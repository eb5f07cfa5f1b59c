"""How memories and conversations are laid out in a prompt; the words around them are the policy's.

Blocks are tagged, so that any model can tell a policy's words from what they are about, and every
line says in which session it was said or written, so that newer can be told from older.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evolve.lm.base import Message
from feedback.records import ChatMessage, Entry

# Fixed and never evolved: probes of different policies must differ in memory alone.
PROBE_PROMPT = (
    "You know a user from past conversations. What you remember of them:\n{{memories}}\n"
    "Say what is true of the user now; where things have changed, the latest word counts."
)
PROBE_PROMPT_NO_STORE = (
    "You know a user from the conversation so far.\n"
    "Say what is true of the user now; where things have changed, the latest word counts."
)


def memories_block(entries: Iterable[Entry]) -> str:
    """Entries as tagged lines, in the order given."""
    lines = [f"- [session {e.session + 1}] {_one_line(e)}" for e in entries]
    return "\n".join(["<memories>", *(lines or ["(none)"]), "</memories>"])


def conversation_block(messages: Iterable[ChatMessage]) -> str:
    """Messages as tagged lines."""
    lines = [f"{m.role}: {m.content}" for m in messages]
    return "\n".join(["<conversation>", *lines, "</conversation>"])


def chat(system: str, turns: Sequence[ChatMessage], last: str) -> tuple[Message, ...]:
    """A chat prompt: what never changes first, then the turns in context, then the new message."""
    return (
        Message("system", system),
        *(Message(turn.role, turn.content) for turn in turns),
        Message("user", last),
    )


def _one_line(entry: Entry) -> str:
    text = f"{entry.label}: {entry.text}" if entry.label else entry.text
    return " ".join(text.split())
