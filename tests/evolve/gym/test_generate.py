"""The command: what it makes, says, refuses and takes up again, its provider played."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.openai_faults import Faults
from benchmarks.openai_server import OpenAIServer
from evolve.eval import main as eval_main
from evolve.gym.generate import main
from evolve.gym.generating.rehearsed import Rehearsed, step_of
from evolve.gym.users import load_users
from evolve.lm import client
from evolve.lm.provider import Reply
from policies.errors import ModelError
from tests.pages import ROOT, fences_of

GUIDE = ROOT / "docs" / "guide" / "generate.md"
SMALL = ["--domain", "travel assistant", "--users", "3", "--periods", "3", "--questions", "2"]
PATIENCE = 300  # seconds after which a process hangs
MODEL = ["--model", "openai/x", "--price", "0.4,1.6"]


class Played:
    """A provider whose model writes what the stand-in of rehearsals writes."""

    sent = 0
    spoiled = ""  # the step that gets no reply that can be read
    refused = 0  # after so many calls no other is taken; 0 for never

    def __init__(self, spec, lost=None):
        self._lm = Rehearsed()

    def takes(self, request):
        pass

    def send(self, request):
        Played.sent += 1
        if Played.refused and Played.sent > Played.refused:
            raise ModelError("The key is wrong; mend it.")
        done = self._lm.complete(request)
        text = "" if step_of(request)[0] == Played.spoiled else done.text
        return Reply(text, "x-1", done.prompt_tokens, done.completion_tokens, 0, False, 0.01)


@pytest.fixture(autouse=True)
def provider(monkeypatch, tmp_path):
    monkeypatch.setattr(client, "Provider", Played)
    monkeypatch.chdir(tmp_path)
    Played.sent, Played.spoiled, Played.refused = 0, "", 0


def run(*more: str) -> int:
    return main([*SMALL, *MODEL, "--out", "travel.json", *more])


def refused(capsys, *arguments: str) -> str:
    """What a refused command says: one sentence, and nothing else."""
    assert main([*arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    return said.err


def test_it_makes_users(capsys):
    assert run() == 0
    said = capsys.readouterr().out
    assert said.startswith("Estimate: 3 users")
    assert "user 2: made" in said
    assert "\nPaid: " in said
    assert said.endswith("\nwrote 3 users to travel.json\n")
    assert len(load_users("travel.json")) == 3


def test_it_goes_on_where_it_was_stopped_and_pays_nothing_twice(capsys):
    assert run() == 0
    calls, made = Played.sent, Path("travel.json").read_bytes()
    for path in [Path("travel.json"), *Path("travel.parts").iterdir()]:
        if path.name not in {"asked.json", "calls.jsonl"}:
            path.unlink()
    assert run() == 0
    assert Path("travel.json").read_bytes() == made
    Played.refused = 1
    assert run() == 0
    assert Played.sent == calls  # none was sent again
    assert "Estimate" not in capsys.readouterr().out.split("wrote 3 users")[-2]


def test_a_wrong_key_in_the_middle_is_one_sentence_and_loses_nothing(capsys):
    Played.refused = 40
    assert run("--concurrency", "1") == 2
    assert capsys.readouterr().err == "error: The key is wrong; mend it.\n"
    Played.refused = 0
    assert run("--concurrency", "1") == 0
    again = Played.sent
    assert len(load_users("travel.json")) == 3
    assert len(Path("travel.parts/calls.jsonl").read_bytes().splitlines()) == again - 1


def test_users_that_fail_are_named_and_the_file_has_the_others(capsys):
    assert run("--users", "1") == 0
    Played.spoiled = "answers"
    capsys.readouterr()
    assert run() == 1
    said = capsys.readouterr().out
    assert "Estimate: 2 users" in said
    assert "user 1 is missing: answers: after 4 tries still wrong: the reply has no JSON" in said
    assert said.endswith("wrote 1 users to travel.json\n")
    Played.spoiled = ""
    assert run() == 0
    assert len(load_users("travel.json")) == 3


def test_no_user_at_all_is_an_error(capsys):
    Played.spoiled = "profile"
    assert run() == 2
    assert "At least one user must be made, but each failed (user 0" in capsys.readouterr().err
    assert not Path("travel.json").exists()


def test_a_dry_run_calls_nothing_and_leaves_nothing(capsys):
    assert run("--dry-run") == 0
    assert "Estimate: 3 users" in capsys.readouterr().out
    assert (Played.sent, list(Path.cwd().iterdir())) == (0, [])


def test_the_guide_shows_the_estimate_that_is_printed(capsys):
    line = ["--domain", "travel assistant", "--out", "travel.json", *MODEL, "--dry-run"]
    assert main(line) == 0
    shown = [fence for fence in fences_of(GUIDE) if fence.language == "text"]
    assert "\n".join(shown[0].lines) == capsys.readouterr().out.strip()


def test_what_costs_much_is_asked_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda asked: "n")
    assert run("--price", "400,1600") == 1
    assert "nothing was called or paid" in capsys.readouterr().err
    assert Played.sent == 0


OUT = ["--out", "travel.json"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([*SMALL, *OUT], "--model is offline, a stand-in"),
        ([*SMALL, *OUT, "--model", "offline"], "--model is offline"),
        ([*SMALL, *OUT, "--model", "gpt"], "--model must be"),
        ([*SMALL, *OUT, *MODEL, "--users", "0"], "--users must be at least 1"),
        ([*SMALL, *OUT, *MODEL, "--users", "1001"], "--users must be at most 1000"),
        ([*SMALL, *OUT, *MODEL, "--periods", "1"], "--periods must be at least 2"),
        ([*SMALL, *OUT, *MODEL, "--language", "de"], "--language must be the English name"),
        ([*SMALL, *OUT, *MODEL, "--domain", ""], "--domain must say"),
        ([*SMALL, *OUT, *MODEL, "--concurrency", "0"], "--concurrency must be at least 1"),
        ([*SMALL, "--out", "travel", *MODEL], "let its name end in .json"),
        ([*SMALL, "--out", "there.json", *MODEL], "there.json is there already"),
        ([*SMALL, "--out", "there.json/a.json", *MODEL, "--dry-run"], "cannot be (Not a dir"),
        ([*SMALL, "--out", "a" * 300 + ".json", *MODEL], "cannot be (File name too long)"),
        ([*SMALL, "--out", ".", *MODEL], "let its name end in .json"),
        ([*SMALL, "--out", "folder.json", *MODEL], "folder.json is there already"),
    ],
)
def test_what_is_not_usable_is_told_in_one_sentence(capsys, arguments, named):
    Path("there.json").write_text("[]")
    Path("folder.json").mkdir()
    assert named in refused(capsys, *arguments)
    assert Played.sent == 0


def test_other_options_over_the_same_file_are_refused(capsys):
    assert run() == 0
    capsys.readouterr()
    told = refused(capsys, *SMALL, *MODEL, *OUT, "--users", "4", "--seed", "1")
    assert "--seed 0, not 1; give the same options" in told


def test_what_is_written_in_another_language_is_refused(capsys):
    assert run("--language", "german", "--users", "1") == 2
    told = capsys.readouterr().err
    assert "the profile must be in German, but reads as English" in told
    assert run("--language", "Swahili", "--out", "other.json") == 0  # which cannot be told


def ended(process: subprocess.Popen[str]) -> str:
    """What a process said, once it has ended well."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out


def killed_after(process: subprocess.Popen[str], server: OpenAIServer, requests: int) -> None:
    """Kill a process once it has sent so many requests."""
    enough, deadline = server.record.requests + requests, time.monotonic() + PATIENCE
    while server.record.requests < enough:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate()


@pytest.mark.extra
def test_what_is_made_can_be_lived(capsys):
    assert run() == 0
    capsys.readouterr()
    line = ["--policy", "awi", "--env", "travel.json", "--users", "1", "--jobs", "1", "--json"]
    assert eval_main(line) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.extra
def test_over_a_network_that_fails_and_after_a_kill_users_are_the_same(tmp_path):
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "sk-test"}
    faults = Faults(rate_limit=0.03, server_error=0.03, cut=0.02, malformed=0.03, retry_after=0.1)
    line = [sys.executable, "-m", "evolve.gym.generate", *SMALL, "--model", "openai/x"]

    def start(server: OpenAIServer, out: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*line, "--api-base", server.base_url, "--out", out],
            cwd=tmp_path,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    with OpenAIServer(lm=Rehearsed(), key="sk-test", latency=0.02) as server:
        assert "unpriced" in ended(start(server, "whole.json"))
        calls = server.record.requests
    with OpenAIServer(lm=Rehearsed(), latency=0.02, faults=faults) as server:
        killed_after(start(server, "torn.json"), server, calls // 2)
        ended(start(server, "torn.json"))
        assert server.record.faults
        # Of calls in flight at a kill the replies are lost, and one in thirty was malformed.
        assert server.record.statuses[200] < 1.3 * calls
    assert (tmp_path / "torn.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
