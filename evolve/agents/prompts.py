"""How memories and conversations are laid out in a prompt; the words around them are the policy's.

Blocks are tagged, so that any model can tell a policy's words from what they are about, and every
line says in which session it was said or written, so that newer can be told from older.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from evolve.lm.base import Message
from feedback.records import ChatMessage, Entry
from policies.placeholders import names

_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")

# Fixed and never evolved: probes of different policies must differ in memory alone.
PROBE_PROMPT = (
    "You know a user from past conversations. Say what is true of the user now; where things have "
    "changed, the latest word counts.\n\nWhat you remember of the user:\n{{memories}}"
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


def chat(
    fixed: str, turns: Sequence[ChatMessage], last: str, *, shown: str = ""
) -> tuple[Message, ...]:
    """A chat prompt: what changes least comes first, which is what a prompt cache can serve.

    Args:
        fixed: Instructions.
        turns: What was said, oldest first.
        last: The new message, or what is asked.
        shown: What was retrieved for it.
    """
    return (
        Message("system", fixed),
        *(Message(turn.role, turn.content) for turn in turns),
        Message("user", f"{shown}\n\n{last}" if shown else last),
    )


@lru_cache(maxsize=256)
def parted(text: str) -> tuple[str, str]:
    """The paragraphs of a text that never change, and those that show memories.

    A text that shows memories in every paragraph stays whole, so that there are instructions.
    """
    fixed, shown = list[str](), list[str]()
    for paragraph in _PARAGRAPHS.split(text.strip()):
        (shown if "memories" in names(paragraph) else fixed).append(paragraph)
    return ("\n\n".join(fixed), "\n\n".join(shown)) if fixed else (text, "")


def _one_line(entry: Entry) -> str:
    text = f"{entry.label}: {entry.text}" if entry.label else entry.text
    return " ".join(text.split())
