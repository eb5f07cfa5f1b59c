"""The adapter between mem0's extraction prompt and the role that writes."""

from __future__ import annotations

import json

import pytest

from evolve.lm.base import Message, Request
from evolve.lm.extraction import as_reply, as_write, asks, undated
from evolve.lm.offline import OfflineLM
from evolve.lm.parse import parse_memories
from evolve.lm.typical import TypicalLM

# As mem0 2.2 lays it out.
PROMPT = """## Summary


## Last k Messages
user: I had tea.

## Recently Extracted Memories
[]

## Existing Memories
[{"id": "0", "text": "has a dog"}]

## New Messages
user: My diet is vegan now.

I told my sister so.
assistant: Good to know.


## Observation Date
2026-11-30

## Current Date
2026-11-30

## Custom Instructions
Keep these:
<memory_types>
- diet: what the user eats
</memory_types>

# Output:"""


def request(prompt: str) -> Request:
    return Request("write", (Message("system", "# ROLE"), Message("user", prompt)), seed=3)


def test_it_is_told_apart_from_our_own_write_prompt() -> None:
    assert asks(PROMPT)
    assert not asks("## New Messages\nuser: hi")
    assert not asks("<conversation>\nuser: hi\n</conversation>\n# Output:")


def test_today_is_taken_out_and_nothing_else() -> None:
    dates = "## Observation Date\n2026-11-30\n\n## Current Date\n2026-11-30\n\n"
    assert dates in PROMPT
    said = undated([Message("system", "## Observation Date\n\nWhen."), Message("user", PROMPT)])
    assert [one.content for one in said] == [
        "## Observation Date\n\nWhen.",
        PROMPT.replace(dates, ""),
    ]


@pytest.mark.parametrize("dated", [True, False])
def test_the_same_write_in_our_words(dated: bool) -> None:
    asked = request(PROMPT) if dated else request(undated([Message("user", PROMPT)])[0].content)
    (said,) = as_write(asked).messages
    assert said.content.startswith("Keep these:\n<memory_types>\n- diet: what the user eats\n")
    assert "<memories>\n- has a dog\n</memories>" in said.content
    talk = said.content.partition("<conversation>\n")[2]
    assert talk.startswith("user: My diet is vegan now.\n\nI told my sister so.\nassistant: Good")
    assert "I had tea" not in said.content
    assert "2026" not in said.content


@pytest.mark.parametrize("lm", [OfflineLM(), TypicalLM()], ids=lambda lm: lm.name)
def test_whoever_plays_by_rule_replies_as_mem0_reads(lm: OfflineLM | TypicalLM) -> None:
    found = [
        parse_memories(lm.complete(Request("write", request(PROMPT).messages, seed)).text)
        for seed in range(8)
    ]
    assert any(found)
    if lm.name == "offline":
        assert any("vegan" in text for texts in found for text in texts)


def test_without_instructions_something_is_kept_all_the_same() -> None:
    bare = PROMPT[: PROMPT.index("## Custom")] + "# Output:"
    reply = OfflineLM().complete(request(bare)).text
    assert json.loads(reply)["memory"] == [
        {"id": str(number), "text": text, "attributed_to": "user"}
        for number, text in enumerate(parse_memories(reply))
    ]
    assert parse_memories(as_reply([])) == []
