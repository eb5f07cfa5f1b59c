"""Placeholders of other systems: which style a prompt has, and what is put in their place."""

from __future__ import annotations

import pytest

from evolve.importing.placeholders import find_placeholders, rewritten


@pytest.mark.parametrize(
    ("text", "style", "found"),
    [
        ("Notes: {current_memories} {{}}", "{name}", {"current_memories": "memories"}),
        ("Notes: {{ context }} {like}", "{{name}}", {"context": "memories"}),
        ("{{ user.profile }}", "{{name}}", {"user.profile": "memories"}),
        ("Said: ${history}", "${name}", {"history": "conversation"}),
        ("Said: %(chat)s, 100%%", "%(name)s", {"chat": "conversation"}),
        ("{query} by {someone}", "{name}", {"query": "message", "someone": None}),
        ("Answer in JSON: {} {answer}", "", {}),
        ("No braces at all", "", {}),
        ("{{unknown}}", "{{name}}", {"unknown": None}),
    ],
)
def test_the_style_is_the_one_whose_names_are_known(text, style, found):
    found_style, placeholders = find_placeholders(text)
    assert found_style == style
    assert {one.name: one.meaning for one in placeholders} == found


def test_each_placeholder_counts_once_in_order():
    _, found = find_placeholders("{history} {memories} {history}")
    assert [one.written for one in found] == ["{history}", "{memories}"]


@pytest.mark.parametrize(
    ("text", "style", "new"),
    [
        ("{memories}: answer {{}}", "{name}", "<memories>: answer {}"),
        ("{{memories}}: answer {}", "{{name}}", "<memories>: answer {}"),
        ("%(memories)s: 100%%", "%(name)s", "<memories>: 100%"),
        ("{memories} stays", "", "{memories} stays"),
    ],
)
def test_what_a_style_escapes_is_as_it_is_meant(text, style, new):
    assert rewritten(text, style, lambda name: f"<{name}>") == new


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("existing_memory", "memories"),
        ("user.relevant_memory", "memories"),
        ("known_fact", "memories"),
        ("contexts", "memories"),
        ("user_profiles", "memories"),
        ("dialogues", "conversation"),
        ("chat_histories", "conversation"),
        ("messages", "conversation"),
        ("message", "message"),
        ("new_message", "message"),
        ("new_messages", "conversation"),
        ("user_messages", "message"),
        ("queries", "message"),
        ("topics", "memory_types"),
        ("topic", None),
        ("glass", None),
    ],
)
def test_a_name_is_known_in_the_other_number_too(name, meaning):
    _, (found,) = find_placeholders(f"{{{{{name}}}}}")
    assert found.meaning == meaning
