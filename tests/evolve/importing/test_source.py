"""What is to be imported is told by its content; what is nothing of the kind is one sentence."""

from __future__ import annotations

import json

import pytest

from evolve.importing.source import import_source
from policies.errors import ImportSourceError
from policies.policy import policy_to_yaml, seed_policy

AGENT = {"type": "awi", "llm_config": {}, "agent_config": {"update_bsz": 2}}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("p.txt", "Be kind.", "a prompt that replies"),
        ("p.MD", "- diet: food\n", "a list of what to remember"),
        ("a.json", json.dumps(AGENT), "an agent configuration of AMemGym"),
        ("a.yaml", "type: awi\nllm_config: {}\n", "an agent configuration of AMemGym"),
    ],
)
def test_kinds(tmp_path, name, text, kind):
    (tmp_path / name).write_text(text)
    imported = import_source(tmp_path / name)
    assert imported.kind == kind
    assert imported.table.title.startswith(f"Read as {kind}, architecture ")


@pytest.mark.parametrize(("words", "warned"), [(1_000, 0), (3_000, 2)])
def test_a_text_too_long_for_a_prompt_is_warned_of(tmp_path, words, warned):
    (tmp_path / "README.md").write_text("You help. " + "so " * words + "{notes}")
    rows = import_source(tmp_path / "README.md").table.rows
    warnings = [" ".join(row) for row in rows if row[0].startswith("warning: ")]
    assert len(warnings) == warned
    for said, name in zip(warnings, ("reply", "answer"), strict=False):
        assert f"{name}_prompt has 2,256 tokens more than the 2,000 of a rewrite" in said
        assert f"each {name} pays for them" in said


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.json", b"[1]", "must be a mapping"),
        ("a.json", b"{", "it is no JSON"),
        ("a.json", b"[" * 100_000, "it is no JSON"),
        ("a.json", b'{"a": 1}', "known by its keys"),
        ("a.yaml", b"a: [\n", "must be a mapping in YAML"),
        ("a.yaml", policy_to_yaml(seed_policy("awe")).encode(), "it is a policy file already"),
        ("a.txt", b"\xff\xfe", "must be UTF-8"),
        ("a.txt", b"x" * 500_001, "at most 500000 bytes"),
        ("a.doc", b"x", "known by its ending"),
    ],
)
def test_what_is_none_is_refused(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ImportSourceError, match=said):
        import_source(tmp_path / name)


def test_what_is_not_there_is_refused(tmp_path):
    for path in (tmp_path / "no.txt", tmp_path / "a\0b.txt"):
        with pytest.raises(ImportSourceError, match="cannot be read"):
            import_source(path)


SECRET = "sk-secret"
AWE = {**AGENT, "type": "awe"}


@pytest.mark.parametrize(
    "text",
    [
        *map(
            json.dumps,
            [
                {"config": SECRET},
                {"config": {}, "add": SECRET, "search": [SECRET], "your_code": SECRET},
                {"config": {}, "search": {"top_k": SECRET}},
                {"config": {}, "search": {"threshold": SECRET}, "your_code": {"write_every": {}}},
                {"config": {}, "your_code": {"reply_prompt": "{{sk_secret}} {{memories}}"}},
                {"llm": {}, "custom_instructions": {SECRET: SECRET}},
                {"llm": {}, "custom_instructions": "{{sk_secret}}"},
                {"llm": {}, SECRET: SECRET},
                {SECRET: SECRET},
                {**AGENT, "type": SECRET},
                {**AGENT, SECRET: 1, "memory_config": {SECRET: 1}, "info_types": SECRET},
                {**AGENT, SECRET: 1, "memory_config": {SECRET: 1}},
                {**AGENT, "agent_config": {"update_bsz": SECRET}},
                {**AWE, "memory_config": {"custom_fact_extraction_prompt": "Note {sk_secret}."}},
            ],
        ),
        f"llm: !{SECRET} x\n",
        f"llm: *{SECRET}\n",
        f"llm: &{SECRET} []\nb: *{SECRET}\n",
        f"llm: {{{SECRET}: 1, {SECRET}: 2}}\n",
        f'llm: {{"a": {SECRET}',
    ],
)
def test_no_value_of_a_configuration_is_shown(tmp_path, text):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    try:
        shown = str(import_source(path).table)
    except ImportSourceError as error:
        shown = str(error)
        assert "\n" not in shown
    assert "secret" not in shown


def test_the_line_of_broken_yaml_is_told(tmp_path):
    path = tmp_path / "a.yaml"
    for text in ("llm: 1\nllm: 2\n", "a: 1\nb: *c\n", "a: 1\nb: !c 1\n"):
        path.write_text(text)
        with pytest.raises(ImportSourceError, match="at line 2; mend"):
            import_source(path)
