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
