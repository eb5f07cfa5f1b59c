"""Where users come from: an environment file, or chats with probes, and the digest of either."""

import json

import pytest

from evolve.config import Options
from evolve.environment import environment_digest, load_environment
from evolve.gym.users import file_digest
from policies.errors import ConfigError, EnvironmentFileError

CHAT = {
    "user": "ann",
    "timestamp": "2024-03-01T10:00:00Z",
    "messages": [{"role": "user", "content": "I live in Lyon."}],
}
PROBE = {
    **{"user": "ann", "state": "home", "question": "Where?"},
    **{"expected": "Lyon", "date": "2024-03-01"},
}


@pytest.fixture
def files(tmp_path):
    chats, probes = tmp_path / "chats.jsonl", tmp_path / "probes.json"
    chats.write_text(json.dumps(CHAT), encoding="utf-8")
    probes.write_text(json.dumps([PROBE]), encoding="utf-8")
    return str(chats), str(probes)


def test_simulated_users():
    path = Options(60).env_path
    environment = load_environment(path)
    assert len(environment.users) == 72
    assert environment.digest == environment_digest(path) == file_digest(path)
    assert environment.notes == ()


def test_the_digest_follows_both_files(files, tmp_path):
    environment = load_environment(*files)
    assert environment.users[0].recorded is not None
    found = "1 conversation of 1 user; 1 has probes, which ask 1 question; messages left out"
    assert environment.notes[0].startswith(found)
    assert environment.digest == environment_digest(*files)
    (tmp_path / "probes.json").write_text(json.dumps([PROBE | {"accept": ["L"]}]), encoding="utf-8")
    assert environment_digest(*files) != environment.digest


def test_options_speak_of_probes_only_where_there_are_some():
    assert "probes" not in Options(60).as_dict()
    assert Options(60, probes="p.yaml").as_dict()["probes"] == "p.yaml"


def test_mistakes(files, tmp_path):
    chats, probes = files
    with pytest.raises(ConfigError, match="--probes is missing"):
        load_environment(chats)
    with pytest.raises(EnvironmentFileError, match="There is no file"):
        load_environment(chats, "gone.yaml")
    with pytest.raises(ConfigError, match="--probes belongs to a file of chats"):
        load_environment(Options(60).env_path, probes)
    with pytest.raises(EnvironmentFileError, match="in OpenAI's message format"):
        load_environment(probes, probes)
    (tmp_path / "chats.csv").write_text("user,role,content,timestamp\n", encoding="utf-8")
    with pytest.raises(EnvironmentFileError, match=r"chats are JSON.*\(CSV\)"):
        load_environment(str(tmp_path / "chats.csv"), probes)
    with pytest.raises(EnvironmentFileError, match="a probe has the keys"):
        load_environment(chats, chats)


@pytest.mark.parametrize("name", ["probes.json", "probes.yaml"])
def test_swapped_files_are_told(files, tmp_path, name):
    chats, probes = files[0], tmp_path / name
    if name.endswith(".yaml"):
        probes.write_text("\n  ".join(["- user: ann", *(f"{k}: {v}" for k, v in PROBE.items())]))
    with pytest.raises(ConfigError, match=r"chats\.jsonl like chats; swap the two\.$"):
        load_environment(str(probes), chats)
