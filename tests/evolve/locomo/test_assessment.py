from __future__ import annotations

import json

import pytest

from benchmarks.openai_server import OpenAIServer
from evolve.eval import main
from policies.policy import seed_policy
from tests.evolve.locomo.conftest import dialogue


@pytest.fixture
def env(write):
    return write([dialogue("one"), dialogue("two"), dialogue("three")])


def test_without_a_model_it_says_what_raw_turns_find(env, capsys):
    assert main(["--policy", "rag", "--env", str(env), "--users", "2"]) == 0
    out = capsys.readouterr().out
    assert "12 questions of 2 dialogues; 2 without evidence" in out
    assert "evidence 'D' of two, question 5: cannot be read" in out
    assert "rag-seed 911f24a5, adversarial" in out
    assert main(["--policy", "rag", "--env", str(env), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["evidence"]["911f24a574c6"]["all"]["questions"] == 15
    assert said["answers"] == {}


def test_without_a_model_questions_need_evidence(write, capsys):
    bare = dialogue("one")
    for question in bare["qa"]:
        question["evidence"] = []
    assert main(["--policy", "rag", "--env", str(write([bare]))]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "no question of --env names a turn" in err


def test_other_architectures_need_a_model(env, capsys):
    assert main(["--policy", "awe", "--env", str(env)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "--policy is awe; name a model" in err


@pytest.mark.extra
def test_with_a_model_it_says_how_policies_answer(env, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with OpenAIServer(key="sk-test") as server:
        model = ["--model", "openai/stand-in", "--api-base", server.base_url, "--price", "1,1"]
        asked = ["--policy", "rag", "--against", "none", "--env", str(env), *model]
        assert main([*asked, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert main(asked) == 0
    out = capsys.readouterr().out
    assert "an answer counts as right from a token F1 of 0.5 on" in out
    assert "token F1, first policy less second" in out
    answers = said["answers"]["911f24a574c6"]
    assert answers["all"]["questions"] == 18
    stages = ("right", "write", "read", "utilization", "format")
    for category in answers.values():
        if isinstance(category, dict):
            assert sum(category[stage] for stage in stages) == pytest.approx(1)
    assert answers["all"]["f1"] > said["answers"][seed_policy("none").id]["all"]["f1"]
    assert said["f1_difference"]["dialogues"] == 3
