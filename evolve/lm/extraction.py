"""mem0's extraction prompt as one more way to ask for a write: told apart, read, replied to.

What plays the role ``write`` by rule, as the stand-in does, is asked by our own write prompt. Here
is the adapter between the two forms: mem0's prompt becomes such a prompt, and the facts that it is
answered with become memories as mem0 reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from evolve.lm.base import Message, Request

_NEW = re.compile(
    r"^## New Messages\n(.*?)\n*(?=^## Custom Instructions$|^# Output:$)", re.M | re.S
)
_INSTRUCTIONS = re.compile(r"^## Custom Instructions\n(.*)\n\n# Output:$", re.M | re.S)
_OLD = re.compile(r"^## Existing Memories\n(.*)$", re.M)
_DATES = re.compile(r"^## (?:Observation|Current) Date\n\d{4}-\d\d-\d\d\n\n", re.M)


def asks(prompt: str) -> bool:
    """Whether a prompt asks for a write in mem0's words."""
    return prompt.endswith("\n# Output:") and "\n## New Messages\n" in prompt


def undated(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The prompt without today's date, which mem0 takes for that of the conversation.

    A rollout happens on no date. With one, a run that is resumed tomorrow would ask anew.
    """
    return tuple(replace(one, content=_DATES.sub("", one.content)) for one in messages)


def as_write(request: Request) -> Request:
    """The same write, asked for by a prompt of ours."""
    last = _DATES.sub("", request.messages[-1].content)
    parts = _INSTRUCTIONS.search(last), _OLD.search(last), _NEW.search(last)
    instructions, old, new = (found[1] if found else "" for found in parts)
    known = [f"- {one['text']}" for one in json.loads(old or "[]")]
    prompt = "\n".join(
        (
            instructions,
            *("<memories>", *known, "</memories>"),
            *("<conversation>", new, "</conversation>"),
        )
    )
    return replace(request, messages=(Message("user", prompt),))


def memories(facts: str) -> str:
    """A reply of facts by label, as mem0 reads one."""
    return as_reply(list(json.loads(facts).values()))


def as_reply(texts: Sequence[str]) -> str:
    """Memories in the form that mem0 asks for."""
    found = [
        {"id": str(number), "text": text, "attributed_to": "user"}
        for number, text in enumerate(texts)
    ]
    return json.dumps({"memory": found}, ensure_ascii=False)
