"""All formats: every part of a policy is accounted for, and the stand-in is named in every file."""

from __future__ import annotations

import json

import pytest

from evolve.agents.example import UserWords
from evolve.agents.own import declare_class
from evolve.exporting.account import beginning, comment, notes, table
from evolve.exporting.formats import FORMATS
from evolve.exporting.origin import Origin
from evolve.tables import plain
from policies.errors import ExportError
from policies.policy import ARCHITECTURES, read_policy_text, seed_policy

STAND_IN = Origin("tuned to the offline stand-in, which is not an LLM (run mine)", real=False)
REFUSED = {
    ("mem0", "none"),
    ("mem0", "native"),
    ("langmem", "none"),
    ("langmem", "native"),
    ("langmem", "rag"),
    ("amemgym", "none"),
}
ONE_TEXT = {"answer_prompt": "Choose. {{memories}}"}
PAIRS = [(f, a) for f in FORMATS for a in ARCHITECTURES if (f, a) not in REFUSED]


@pytest.mark.parametrize(("format_name", "architecture"), PAIRS)
def test_every_part_has_one_fate_on_screen_and_in_the_file(format_name, architecture):
    policy = seed_policy(architecture)
    made = FORMATS[format_name](policy, STAND_IN)
    parts = ["architecture", *policy.texts, *policy.settings]
    assert [fate.part for fate in made.fates if fate.how != "added"] == parts
    shown = plain(table(policy, format_name, made.fates)).splitlines()[2:]
    assert [line.split()[0] for line in shown] == [fate.part for fate in made.fates]
    assert STAND_IN.sentence in made.text
    for fate in made.fates:
        assert fate.where
        if fate.how != "carried":
            assert fate.where in made.text


@pytest.mark.parametrize(("format_name", "architecture"), PAIRS)
def test_a_text_that_is_carried_is_in_the_file(format_name, architecture):
    seed = seed_policy(architecture)
    marks = {name: f"Canary of {name}. {text}" for name, text in seed.texts.items()}
    made = FORMATS[format_name](seed.derive(texts=marks), STAND_IN)
    for fate in made.fates:
        if fate.part in marks and fate.how != "lost":
            assert f"Canary of {fate.part}." in made.text, fate


@pytest.mark.parametrize(("format_name", "architecture"), sorted(REFUSED))
def test_a_target_without_such_a_memory_refuses(format_name, architecture):
    with pytest.raises(ExportError, match=f"architecture.*{architecture}.*export it as"):
        FORMATS[format_name](seed_policy(architecture), STAND_IN)


@pytest.mark.parametrize("format_name", ["yaml", "mem0", "dspy", "openai"])
def test_the_class_of_an_agent_of_ones_own_is_never_carried_over(format_name):
    policy = seed_policy(declare_class(type("Mine", (UserWords,), {"texts": ONE_TEXT})))
    made = FORMATS[format_name](policy, STAND_IN)
    fate = next(fate for fate in made.fates if fate.part == "architecture")
    assert (fate.how, fate.where in made.text) == ("yours", True)
    assert '"infer": true' not in made.text


def test_paragraphs_that_are_left_out_are_named(policy):
    made = FORMATS["mem0"](policy, STAND_IN)
    assert len(made.left_out) == 3
    assert all(one in policy.texts["write_prompt"] for one in made.left_out)
    kept = notes(policy, STAND_IN, made.fates, made.left_out)
    assert kept["paragraphs_left_out"] == list(made.left_out)
    whole = " ".join(made.left_out[0].split())
    assert whole.endswith("answer {}.")
    assert any(whole in line for line in comment(policy, STAND_IN, (), made.left_out))
    assert beginning(made.left_out[0]) == "'Answer with one JSON object and nothing…'"


@pytest.mark.parametrize("format_name", ["mem0", "langmem", "openai", "amemgym"])
def test_no_sentence_points_to_a_paragraph_that_is_left_out(policy, format_name):
    made = FORMATS[format_name](policy, STAND_IN)
    assert "conversation at the end" in " ".join(policy.texts["write_prompt"].split())
    assert "at the end" not in made.text
    assert "3 paragraphs and the words that point there" in " ".join(f.where for f in made.fates)


@pytest.mark.parametrize("architecture", ["rag", "awe", "mem0"])
def test_notes_are_named_once_in_a_system_prompt(architecture):
    made = FORMATS["openai"](seed_policy(architecture), STAND_IN)
    assert made.text.count("(your notes") == 1


def test_a_prompt_in_one_paragraph_still_hands_over_its_types(policy):
    prompt = "Write JSON {} of {{memory_types}} {{memories}} {{conversation}}"
    made = FORMATS["mem0"](policy.derive(texts={"write_prompt": prompt}), STAND_IN)
    assert "canary in the mine" in made.text
    (fate,) = (one for one in made.fates if one.part == "write_prompt")
    assert fate.how == "lost"
    assert "each paragraph of it shows" in made.text
    assert made.left_out == (prompt,)


@pytest.mark.parametrize("format_name", ["mem0", "langmem", "openai", "amemgym"])
def test_a_sentence_that_names_the_conversation_is_kept(policy, format_name):
    prompt = (
        "Write down what {{conversation}} tells of the user.\n\nAnswer in JSON {}.\n\n"
        "Types to keep:\n{{memory_types}}\n\nNotes:\n{{memories}}"
    )
    made = FORMATS[format_name](policy.derive(texts={"write_prompt": prompt}), STAND_IN)
    (fate,) = (one for one in made.fates if one.part == "write_prompt")
    assert (fate.how, len(made.left_out)) == ("carried", 2)
    assert "Write down what the conversation tells of the user." in made.text


@pytest.mark.parametrize("format_name", ["mem0", "langmem", "openai", "amemgym"])
def test_headings_alone_are_not_the_prompt(policy, format_name):
    prompt = "JSON {} of\n{{conversation}}\n\nTypes:\n{{memory_types}}\n\nNotes: {{memories}}"
    made = FORMATS[format_name](policy.derive(texts={"write_prompt": prompt}), STAND_IN)
    (fate,) = (one for one in made.fates if one.part == "write_prompt")
    assert fate.how == "lost"


def test_a_policy_file_says_it_again_wherever_it_goes(policy):
    from dataclasses import replace

    evolved = replace(policy, lineage=replace(policy.lineage, run="mine"))
    again = read_policy_text(FORMATS["yaml"](evolved, STAND_IN).text, "the export")
    assert again.id == policy.id
    assert again.scores["tuned_to"] == STAND_IN.sentence
    assert "tuned_to" not in read_policy_text(FORMATS["yaml"](policy, STAND_IN).text, "it").scores


def test_a_number_that_the_policy_does_not_have_is_listed(policy):
    made = FORMATS["mem0"](policy, STAND_IN)
    assert "threshold" not in policy.settings
    assert json.loads(made.text)["search"]["threshold"] == 0
    (added,) = (fate for fate in made.fates if fate.how == "added")
    assert added.part == "threshold"
    assert added.where in made.text
