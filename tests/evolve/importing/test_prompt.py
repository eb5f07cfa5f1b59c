"""A prompt as a policy: which text it is, what is added, and what nothing fills."""

from __future__ import annotations

import pytest

from evolve.importing.prompt import FORM, import_prompt
from policies.errors import ImportSourceError
from policies.policy import policy_to_yaml, read_policy_text, seed_policy

SEED = seed_policy("awe")
WRITE = """Organise what is known of a customer.

Types of information to track:
- diet: what they eat
- travel: where they go
- work: what they do

Known: {current_memories}
Extract facts of the conversation as JSON {{"diet": "..."}}. Today is {date}.

{input}
"""


def told(imported):
    return {one.found: one.becomes for one in imported.findings}


def test_a_prompt_that_writes():
    imported = import_prompt(WRITE, "mine")
    policy = imported.policy
    assert imported.kind == "a prompt that writes memory"
    assert (policy.name, policy.architecture) == ("mine", "awe")
    assert policy.lineage.operator == "import"
    prompt = policy.texts["write_prompt"]
    assert "Types of information to track:\n{{memory_types}}\n" in prompt
    assert "Known: {{memories}}" in prompt
    assert 'JSON {"diet": "..."}. Today is (date).' in prompt
    assert prompt.rstrip().endswith("{{conversation}}")
    assert FORM not in prompt
    assert policy.texts["memory_types"].startswith("- diet: what they eat\n- travel")
    assert policy.texts["reply_prompt"] == SEED.texts["reply_prompt"]
    assert told(imported)["{input}"] == "{{conversation}} of write_prompt"
    assert told(imported)["{date}"] == "the words (date), as nothing fills it"
    assert read_policy_text(policy_to_yaml(policy), "it") == policy


@pytest.mark.parametrize("form", ['JSON: {"facts": ["one"]}', "a list of facts"])
def test_another_form_of_the_reply_is_put_right(form):
    imported = import_prompt(f"Extract and record facts from {{conversation}} as {form}", "x")
    assert FORM in imported.policy.texts["write_prompt"]
    assert "no JSON object of labels and values" in told(imported)


def test_what_is_missing_is_added_and_told():
    imported = import_prompt("Extract facts about the user from {conversation}", "x")
    assert "{{memories}}" in imported.policy.texts["write_prompt"]
    assert told(imported)["no place for memories"] == "{{memories}} added at the end"
    assert imported.policy.texts["memory_types"] == SEED.texts["memory_types"]


def test_a_prompt_that_replies_serves_for_answers_too():
    imported = import_prompt("Be kind. Notes: {{ context }}. Asked: {{question}} {{who}}", "x")
    assert imported.kind == "a prompt that replies"
    prompt = imported.policy.texts["reply_prompt"]
    assert prompt == "Be kind. Notes: {{memories}}. Asked: (the message of the user, below) (who)\n"
    assert imported.policy.texts["answer_prompt"] == prompt
    assert imported.policy.texts["write_prompt"] == SEED.texts["write_prompt"]


def test_a_prompt_without_placeholders_gets_a_place_for_memories():
    prompt = import_prompt("You are a barista.", "x").policy.texts["reply_prompt"]
    assert prompt == "You are a barista.\n\nWhat you remember about the user:\n{{memories}}\n"


def test_a_list_is_what_to_remember():
    imported = import_prompt("* diet: food\n* work: jobs\n", "x")
    assert imported.policy.texts["memory_types"] == "- diet: food\n- work: jobs\n"
    assert imported.policy.texts["write_prompt"] == SEED.texts["write_prompt"]


def test_words_of_other_languages():
    imported = import_prompt("从对话中提取用户的信息，输出JSON。\n{conversation}", "x")
    assert imported.kind == "a prompt that writes memory"


def test_an_existing_memory_is_the_place_of_notes():
    text = "Extract facts.\nExisting memory: {{ existing_memory }}\n{{ conversation }}"
    imported = import_prompt(text, "x")
    prompt = imported.policy.texts["write_prompt"]
    assert "Existing memory: {{memories}}\n" in prompt
    assert prompt.count("{{memories}}") == 1
    assert "no place for memories" not in told(imported)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_nothing_is_no_prompt(text):
    with pytest.raises(ImportSourceError, match="must have words"):
        import_prompt(text, "x")
