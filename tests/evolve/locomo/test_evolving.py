from __future__ import annotations

import json

import pytest

from benchmarks.openai_server import OpenAIServer
from evolve.environment import load_environment
from evolve.gym.recorded import OFF_POLICY
from evolve.loop import main
from tests.evolve.locomo.conftest import long_dialogue


@pytest.fixture
def env(write):
    return str(write([long_dialogue(f"talk-{number}", 4) for number in range(6)]))


def test_dialogues_are_an_environment_with_questions_by_time(env):
    environment = load_environment(env)
    assert len(environment.users) == 6
    assert OFF_POLICY in environment.notes
    assert any("parted into 4 periods" in note for note in environment.notes)
    for user in environment.users:
        asked = [number for period in range(4) for number in user.asked_in(period)]
        assert sorted(asked) == list(range(24))
        assert all(user.asked_in(period) for period in range(4))


@pytest.mark.extra
def test_with_a_model_the_loop_evolves_on_them(env, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with OpenAIServer(key="sk-test") as server:
        model = ["--model", "openai/stand-in", "--api-base", server.base_url, "--price", "1,1"]
        place = ["--runs", str(tmp_path), "--name", "lived", "--yes"]
        asked = ["--env", env, "--policy", "awe", "--budget", "48", *model, *place]
        assert main(asked) == 0
    out = capsys.readouterr().out
    assert "the split is by time" in out
    assert "gen-001.0" in out
    summary = json.loads((tmp_path / "lived" / "summary.json").read_text())
    assert summary["spent"] <= 48
    assert summary["test"]["seed"]["n"] == 36
