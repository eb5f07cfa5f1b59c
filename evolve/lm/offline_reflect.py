"""The offline model's role ``rewrite`` where gepa asks: the same mending, from gepa's own prompt.

That prompt has the text and the examples in fences, and wants the new text in fences. The stand-in
adds up the headings of all examples, as they are one digest each.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

from evolve.lm.base import Message, Request
from evolve.lm.offline_rewrite import rewrite

_PROMPT = re.compile(r"```\n(.*?)\n```\n.*?```\n(# Example 1\n.*)\n```", re.DOTALL)
_PURPOSE = re.compile(r"^(?:memory_types|write_prompt|reply_prompt|answer_prompt): .*$", re.M)
_HEADING = re.compile(r"^### (.+?): (\d+) of (\d+) answers wrong.*$", re.MULTILINE)


def asks(request: Request) -> bool:
    """Whether a request is one of gepa's."""
    return _PROMPT.search(request.messages[-1].content) is not None


def reflect(request: Request) -> str:
    """The new text in fences.

    Raises:
        ValueError: The request is none of gepa's.
    """
    found = _PROMPT.search(request.messages[-1].content)
    if found is None:
        raise ValueError("no text and examples in fences: the prompt is none of gepa's")
    purpose = _PURPOSE.search(found[2])
    fields = {
        "purpose": purpose[0] if purpose else "",
        "current_text": found[1],
        "feedback": _added_up(found[2]),
    }
    prompt = "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in fields.items())
    prompt += "\n\nRespond with a JSON object"
    said = json.loads(rewrite(replace(request, messages=(Message("user", prompt),))))
    return f"```\n{said['new_text']}\n```"


def _added_up(examples: str) -> str:
    """The examples as one digest: a heading per state, worst first, then everything else."""
    wrong: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for name, count, of in _HEADING.findall(examples):
        wrong[name] += int(count)
        asked[name] += int(of)
    order = sorted(wrong, key=lambda name: (-wrong[name], name))
    headings = [f"### {name}: {wrong[name]} of {asked[name]} answers wrong" for name in order]
    return "\n".join([*headings, _HEADING.sub("", examples)])
