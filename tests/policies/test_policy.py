from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policies.difference import diff_policies
from policies.errors import PolicyFileError, UserError
from policies.policy import (
    ARCHITECTURES,
    Lineage,
    Policy,
    make_policy,
    policy_to_yaml,
    read_policy,
    read_policy_text,
    seed_policy,
    write_policy,
)
from policies.settings import applicable

RAG = {"reply_prompt": "Reply. {{memories}}\n", "answer_prompt": "Pick. {{memories}}\n"}


def rag(**settings: int | str | None) -> Policy:
    return make_policy("rag", RAG, settings, name="mine")


def rag_yaml(**changes: object) -> str:
    document: dict[str, object] = {"schema": 1, "architecture": "rag", "texts": RAG}
    return yaml.safe_dump(document | changes, sort_keys=False)


def test_id_is_the_hash_of_content() -> None:
    policy = rag()
    assert policy.id == "7151965c98d1"  # pinned: a change breaks every file ever written
    assert policy.short_id == policy.id[:8]
    assert rag(top_k=30).id == policy.id  # the default, written out
    assert make_policy("rag", dict(reversed(RAG.items())), {}).id == policy.id
    assert (
        replace(policy, name="other", lineage=Lineage(("x",), 3), scores={"n": 1}).id == policy.id
    )
    assert rag(top_k=29).id != policy.id
    assert rag(recency_half_life=1).id != rag(recency_half_life=2).id
    assert policy.derive(texts={"reply_prompt": "Reply.  {{memories}}\n"}).id != policy.id


def test_equal_policies_hash_alike_and_travel_between_processes() -> None:
    policy = rag(top_k=3)
    copy = pickle.loads(pickle.dumps(policy))
    assert copy == policy
    assert len({copy, policy, rag(top_k=4)}) == 2


def test_derive_merges_and_checks() -> None:
    parent = rag(top_k=3)
    child = parent.derive(settings={"write_every": 8})
    assert child.settings == {**parent.settings, "write_every": 8}
    assert child.texts == parent.texts
    assert child.name == "mine"
    assert child.lineage == Lineage((parent.id,), 1, "edit")
    told = parent.derive({"reply_prompt": "R {{memories}}"}, name="n", lineage=Lineage(run="r"))
    assert (told.name, told.lineage.run) == ("n", "r")
    with pytest.raises(PolicyFileError, match="which is missing"):
        parent.derive({"reply_prompt": "R"})
    with pytest.raises(PolicyFileError, match="has no setting"):
        parent.derive(settings={"k": 1})


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_seeds_are_canonical_files(architecture: str) -> None:
    policy = seed_policy(architecture)
    assert policy.architecture == architecture
    assert policy.name == f"{architecture}-seed"
    assert policy == seed_policy(policy.name)
    assert policy.lineage == Lineage()
    assert set(policy.settings) == {setting.name for setting in applicable(architecture)}
    packaged = Path(__file__).parents[2] / "policies" / "seeds" / f"{architecture}.yaml"
    assert packaged.read_text(encoding="utf-8") == policy_to_yaml(policy)


def test_unknown_seed_names_those_there_are() -> None:
    with pytest.raises(PolicyFileError, match=r"no seed policy '../awe'; use one of awe, awi, mem"):
        seed_policy("../awe")


def test_file_looks_as_in_the_design() -> None:
    text = policy_to_yaml(rag(top_k=3))
    assert text.startswith("schema: 1\nid: ")
    assert "texts:\n  reply_prompt: |\n    Reply. {{memories}}\n" in text
    assert (
        "\nsettings: {write_every: 2, local_window: 4, top_k: 3, retriever: bm25, recency" in text
    )
    assert text.endswith(
        "lineage: {parents: [], generation: 0, operator: seed, feedback: null, run: null}\n"
        "scores: {}\n"
    )


def test_hand_written_file_may_leave_out_what_has_a_default(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + rag_yaml().replace("\n", "\r\n").encode())
    assert read_policy(path) == make_policy("rag", RAG, {})
    assert read_policy_text(rag_yaml(name="mine", id=rag().id), "x") == rag()


def test_write_is_whole_and_makes_folders(tmp_path: Path) -> None:
    path = tmp_path / "policies" / "p.yaml"
    policy = replace(
        rag(), lineage=Lineage(("a", "b"), 3, "rewrite", "f.md", "r"), scores={"gate": {"n": 24}}
    )
    write_policy(policy, path)
    write_policy(policy, str(path))
    assert read_policy(path) == policy
    assert [item.name for item in path.parent.iterdir()] == ["p.yaml"]


def test_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(PolicyFileError, match=r"cannot be written .*; choose another place"):
        write_policy(rag(), tmp_path / "taken")
    assert [item.name for item in tmp_path.iterdir()] == ["taken"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.text(
    alphabet="\n\r\t {}:#|>-'\"\\a\x85\u2028\ufeff\x00é漢😀", max_size=40
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
POLICIES = st.builds(
    lambda before, after, name, lineage, scores: replace(
        make_policy("rag", {k: before + v + after for k, v in RAG.items()}, {}, name, lineage),
        scores=scores,
    ),
    TEXT.filter(lambda text: not text.endswith("{")),
    TEXT.filter(lambda text: not text.startswith("}")),
    TEXT,
    st.builds(
        Lineage, st.tuples(TEXT, TEXT), st.integers(0, 99), TEXT, st.none() | TEXT, st.none() | TEXT
    ),
    st.dictionaries(TEXT, PLAIN, max_size=3),
)


@given(policy=POLICIES)
def test_round_trip_is_exact(policy: Policy) -> None:
    text = policy_to_yaml(policy)
    read = read_policy_text(text, "x")
    assert read == policy
    assert read.id == policy.id
    assert policy_to_yaml(read) == text


BROKEN = {
    "schema missing": ("architecture: rag\n", "key schema is missing; add schema: 1"),
    "schema unknown": (rag_yaml(schema=2), "schema must be 1, not 2; write"),
    "schema true": (rag_yaml(schema=True), "schema must be 1, not True"),
    "unknown key": (rag_yaml(txts={}), r"no key 'txts'; remove it \(keys: schema, id"),
    "number as key": ("schema: 1\n3: x\n", "no key 3; remove"),
    "wrong id": (rag_yaml(id="0123456789ab"), r"id must be '[0-9a-f]{12}', .* not '0123456789ab'"),
    "id a number": (rag_yaml(id=123456789012), "id must be '.*not 123456789012"),
    "id null": (rag_yaml(id=None), "id must be '.*not None"),
    "architecture missing": ("schema: 1\n", "architecture must be one of none, native, .*not ''"),
    "architecture unknown": (rag_yaml(architecture="mem"), "architecture must be one .*not 'mem'"),
    "architecture no text": (rag_yaml(architecture=3), "architecture must be text, not 3"),
    "texts missing": ("schema: 1\narchitecture: rag\n", "rag needs the text reply_prompt; add it"),
    "texts a list": (rag_yaml(texts=["a"]), "texts must be a mapping"),
    "texts null": (rag_yaml(texts=None), "texts must be a mapping"),
    "text missing": (rag_yaml(texts={"reply_prompt": "{{memories}}"}), "needs the text answer_pr"),
    "text a list": (rag_yaml(texts=RAG | {"reply_prompt": ["a"]}), r"must be text, not \['a'\]"),
    "text a date": (
        "schema: 1\narchitecture: none\ntexts: {reply_prompt: 2024-01-01, answer_prompt: a}\n",
        "text reply_prompt must be text, not datetime.date",
    ),
    "placeholder": (rag_yaml(texts=RAG | {"reply_prompt": "a"}), r"\{\{memories\}\}, which is mi"),
    "settings a list": (rag_yaml(settings=[1]), r"settings must be a mapping .*not \[1\]"),
    "setting unknown": (rag_yaml(settings={"topk": 3}), "no setting 'topk'"),
    "setting elsewhere": (rag_yaml(settings={"supersede": True}), "supersede applies to awe and"),
    "setting range": (rag_yaml(settings={"top_k": 51}), "top_k must be .* from 1 to 50, not 51"),
    "setting bool": (rag_yaml(settings={"top_k": True}), "top_k must be a whole number .*not True"),
    "name no text": (rag_yaml(name=1), "name must be text, not 1"),
    "lineage key": (rag_yaml(lineage={"parent": "x"}), "lineage has no key 'parent'; remove it"),
    "parents text": (rag_yaml(lineage={"parents": "abc"}), "lineage parents must be a list"),
    "parents numbers": (rag_yaml(lineage={"parents": [1]}), "each of lineage parents must be text"),
    "generation": (rag_yaml(lineage={"generation": -1}), "generation must be a whole .*not -1"),
    "generation bool": (rag_yaml(lineage={"generation": True}), "generation must be .*not True"),
    "operator": (rag_yaml(lineage={"operator": None}), "lineage operator must be text, not None"),
    "feedback": (rag_yaml(lineage={"feedback": 3}), "lineage feedback must be text, not 3"),
    "scores": (rag_yaml(scores=3), "scores must be a mapping .*not 3"),
    "scores a date": (rag_yaml() + "scores: {when: 2024-01-01}\n", "scores must hold plain values"),
    "empty": ("", "it is empty"),
    "only a comment": ("# nothing\n", "it is empty"),
    "a list": ("- a\n", "must be a mapping .*not a list"),
    "one value": ("policy\n", "must be a mapping .*not one value"),
    "broken": ("schema: 1\ntexts: {a: [\n", "is no YAML: line 3, .*; mend it there"),
    "control character": ("schema: \x07\n", "is no YAML"),
    "two documents": ("schema: 1\n---\nschema: 1\n", "is no YAML: line 2"),
    "python object": ("schema: !!python/object:os.system {}\n", "is no YAML: line 1"),
    "impossible date": ("schema: 1\nname: 2024-99-99\n", "a value that cannot be read .ValueErr"),
    "odd tags": ("schema: !!int ''\n", "a value that cannot be read"),
    "deep": ("[" * 5000, "a value that cannot be read|is no YAML"),
    "key twice": (rag_yaml() + "schema: 1\n", "key schema must stand once, and stands again in"),
    "text twice": ("texts:\n  a: x\n  a: y\n", "key a must stand once, and stands again in line 3"),
    "alias": ("schema: 1\nscores: &a {x: *a}\n", "line 2 is used again by an alias"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_one_sentence_naming_the_file(case: str, tmp_path: Path) -> None:
    text, message = BROKEN[case]
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyFileError, match=message) as caught:
        read_policy(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, UserError)


def test_unreadable_files(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"name: caf\xe9")
    for path, message in (
        (latin, "must be UTF-8, and byte 9 is not"),
        (tmp_path / "missing.yaml", "missing.yaml: the policy file cannot be read .*No such file"),
        (tmp_path, "cannot be read .*directory"),
    ):
        with pytest.raises(PolicyFileError, match=message):
            read_policy(path)


def test_unknown_architecture_in_code() -> None:
    with pytest.raises(PolicyFileError, match=r"architecture must be one of .*not 'x'; change it"):
        make_policy("x", {}, {})


def test_diff() -> None:
    a = rag(top_k=3)
    b = a.derive({"reply_prompt": "Reply.\nBriefly. {{memories}}\n"}, {"top_k": 4})
    assert diff_policies(a, replace(a, name="other")) == ""
    assert diff_policies(a, b) == (
        "top_k: 3 → 4\n"
        f"--- {a.short_id} reply_prompt\n"
        f"+++ {b.short_id} reply_prompt\n"
        "@@ -1,2 +1,3 @@\n"
        "-Reply. {{memories}}\n"
        "+Reply.\n"
        "+Briefly. {{memories}}\n"
        " \n"
    )
    assert diff_policies(a, a.derive({"reply_prompt": RAG["reply_prompt"].rstrip("\n")})) != ""


def test_diff_across_architectures() -> None:
    text = diff_policies(rag(), seed_policy("awe"))
    assert text.startswith("architecture: rag → awe\n")
    assert "granularity: message → (none)\nsupersede: (none) → false\n" in text
    assert "+- health and wellbeing" in text
