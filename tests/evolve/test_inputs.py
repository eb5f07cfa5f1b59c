"""Policies by name or file."""

from dataclasses import replace

import pytest

from evolve.inputs import STAND_IN, called, imported_table, load_policy, unread
from evolve.roles import Models
from policies.errors import PolicyFileError
from policies.policy import seed_policy, write_policy


def test_seeds_by_name_and_files_by_path(tmp_path, monkeypatch):
    policy = seed_policy("awe").derive(settings={"top_k": 3}, name="mine")
    for name in ("mine.yaml", "folder/mine", "mine.yml"):
        write_policy(policy, tmp_path / name)
        assert load_policy(str(tmp_path / name)).id == policy.id
    monkeypatch.chdir(tmp_path)
    assert load_policy("mine.yaml").id == policy.id
    assert load_policy("awe").id == load_policy("awe-seed").id == seed_policy("awe").id


def test_a_prompt_stands_for_a_policy_and_what_was_found_is_told(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("Be kind. Notes: {context}")
    assert load_policy(str(path)).texts["reply_prompt"] == "Be kind. Notes: {{memories}}\n"
    assert imported_table(str(path)).rows[0] == ("{context}", "{{memories}} of reply_prompt")
    assert imported_table("awe") is None


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("llm: {provider: openai}\nversion: v1.1\n", "a configuration of mem0"),
        ("type: awe\nagent_config: {top_k: 3}\n", "an agent configuration of AMemGym"),
        ("a: 1\n", "a configuration of something else"),
    ],
)
def test_a_configuration_is_no_policy_file(tmp_path, content, kind):
    (tmp_path / "a.yaml").write_text(content)
    with pytest.raises(PolicyFileError, match=rf"looks like {kind}; .*evolve\.import_policy"):
        load_policy(str(tmp_path / "a.yaml"))


@pytest.mark.parametrize("content", ["schema: 1\na: 1\n", "[1]", "texts: {}\n"])
def test_a_policy_file_with_mistakes_is_one_all_the_same(tmp_path, content):
    (tmp_path / "a.yaml").write_text(content)
    with pytest.raises(PolicyFileError, match=r"a\.yaml: (?!.*looks like)"):
        load_policy(str(tmp_path / "a.yaml"))


@pytest.mark.parametrize("name", ["", "nope", "nope.yaml", "no/nope", "."])
def test_what_is_neither(name):
    with pytest.raises(PolicyFileError):
        load_policy(name)


def test_the_offline_model_is_said_to_be_a_stand_in():
    assert "stand-in" in STAND_IN
    assert "not an LLM" in STAND_IN


def test_answers_that_cannot_be_read_are_told_of_from_half_of_them_on():
    assert unread(0, 0, "nobody") is None
    assert unread(95, 191, "awe") is None
    said = unread(96, 192, "awe")
    assert said.startswith("warning: 96 of 192 answers of awe could not be read")
    assert "256 tokens for answers" in said
    assert "512 for replies, 1,024 for writes, 4,096 for rewrites" in said


def test_an_address_is_told_after_the_models_that_it_serves():
    for models, line in [
        (Models("o/a", "offline"), "model o/a at http://x, user offline"),
        (Models("offline", "o/a", "p/b"), "model offline, user o/a at http://x, rewriter p/b"),
        (Models("o/a", rewrite_model="o/b"), "model o/a at http://x, rewriter o/b at http://x"),
    ]:
        assert called(replace(models, api_base="http://x")) == line


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.j2", "Be kind. {{ notes }}", r"ends in \.j2; rename a prompt to \.txt"),
        ("pyproject.toml", "[project]", r"prompt \(\.txt, .* ends in \.toml"),
        ("chats.jsonl", '{"user": "a", "messages": []}', "conversations; give it as --env"),
    ],
)
@pytest.mark.parametrize("folder", ["", "./", "sub/"])
def test_a_file_of_another_ending_is_told_what_a_policy_is(
    tmp_path, monkeypatch, name, text, said, folder
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / name).write_text(text)
    with pytest.raises(PolicyFileError, match=said):
        load_policy(folder + name)


def test_a_policy_file_may_end_in_any_way(tmp_path):
    policy = seed_policy("awe").derive(settings={"top_k": 3})
    write_policy(policy, tmp_path / "mine.v2")
    assert load_policy(str(tmp_path / "mine.v2")).id == policy.id


@pytest.mark.parametrize("name", ["first", "runs/first", "./runs/first/"])
def test_a_run_stands_for_no_policy_but_its_best_is_named(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "first"
    folder.mkdir(parents=True)
    with pytest.raises(PolicyFileError, match=r"no seed policy|cannot be read"):
        load_policy(name)
    (folder / "journal.jsonl").touch()
    with pytest.raises(PolicyFileError, match="--resume runs/first"):
        load_policy(name)
    (folder / "best.yaml").touch()
    (tmp_path / "runs" / "awe").mkdir()
    (tmp_path / "awe").mkdir()
    assert load_policy("awe").id == seed_policy("awe").id
    with pytest.raises(PolicyFileError, match=r"its best policy is runs/first/best\.yaml\.$"):
        load_policy(name)
