"""The loop with mem0 as memory, against a server on loopback."""

import json

import pytest

from benchmarks.openai_server import OpenAIServer
from evolve.lm import extraction


@pytest.fixture(autouse=True)
def _installed():
    pytest.importorskip("qdrant_client", reason="mem0 is not installed")


@pytest.mark.extra
def test_a_real_model_is_asked_through_our_client_alone(command, small):
    options = [*small.options, "--policy", "mem0", "--runs", command.place / "runs"]
    command.variables |= {"OPENAI_API_KEY": "sk-test", "MEM0_TELEMETRY": "True"}
    with OpenAIServer() as server:
        real = ["--model", "openai/offline", "--api-base", server.base_url, "--price", "0,0"]
        done = command.run(*options, "--name", "real", *real, "--yes")
        bodies, requests = list(server.bodies), server.record.requests
    assert (done.returncode, done.stderr) == (0, "")
    folder = command.place / "runs" / "real"
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    assert len(calls) == requests
    written = [call for call in calls if call["role"] == "write"]
    assert written
    assert all('"memory"' in call["text"] for call in written)
    asked = [body["messages"][-1]["content"] for body in bodies]
    assert any(extraction.asks(text) and "<memory_types>" in text for text in asked)


@pytest.mark.extra
def test_an_estimate_counts_its_long_prompts(command, small):
    told = {}
    for policy in ("awe", "mem0"):
        real = ["--model", "openai/none", "--price", "1,1", "--dry-run"]
        done = command.run(*small.options, "--policy", policy, *real)
        assert (done.returncode, done.stderr) == (0, "")
        (line,) = (one.split() for one in done.stdout.splitlines() if one.startswith("write "))
        told[policy] = int(line[3].replace(",", ""))
    assert told["mem0"] > 5 * told["awe"]
