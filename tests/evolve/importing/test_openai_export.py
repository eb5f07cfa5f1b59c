"""An export for a chat API as a policy again: prompts come back, and its account does not."""

from __future__ import annotations

import pytest

from evolve.exporting.origin import UNTUNED, Origin
from evolve.exporting.to_openai import to_openai
from evolve.importing.openai_export import import_openai, is_openai
from evolve.importing.prompt import import_prompt
from policies.errors import ImportSourceError
from policies.policy import seed_policy

ORIGIN = Origin(UNTUNED, real=False)
SEED = seed_policy("awe")


def test_sections_become_prompts_and_the_comment_is_dropped():
    policy = SEED.derive(texts={"answer_prompt": "Choose.\n\nNotes on them:\n{{memories}}\n"})
    text = to_openai(policy, ORIGIN).text
    assert is_openai(text)
    imported = import_openai(text, "sys")
    told = {one.found: one.becomes for one in imported.findings}
    assert imported.kind == "an export for openai"
    assert told["section Replies"] == "text reply_prompt"
    assert not any(found.startswith("{{") for found in told)
    texts = imported.policy.texts
    assert texts["memory_types"] == SEED.texts["memory_types"]
    assert texts["answer_prompt"].startswith("Choose.")
    assert "Choose." not in texts["reply_prompt"]
    for name in ("write_prompt", "reply_prompt", "answer_prompt"):
        assert texts[name].count("{{memories}}") == 1
        assert "left out" not in texts[name]
        assert "<!--" not in texts[name]


@pytest.mark.parametrize("architecture", ["none", "native", "rag", "awi", "mem0"])
def test_every_architecture_comes_back(architecture):
    imported = import_openai(to_openai(seed_policy(architecture), ORIGIN).text, "sys")
    assert imported.policy.architecture == "awe"
    assert not any("<!--" in text for text in imported.policy.texts.values())


def test_without_sections_it_is_a_prompt_without_the_comment():
    comment = to_openai(SEED, ORIGIN).text.split("-->")[0] + "-->\n"
    mine = "Be kind. Notes: {{memories}}\n"
    assert import_openai(comment + mine, "x") == import_prompt(mine, "x")
    assert not is_openai("<!-- mine -->\n" + mine)
    with pytest.raises(ImportSourceError, match="this one is empty"):
        import_openai(comment, "x")
