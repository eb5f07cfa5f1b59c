"""The server of the chat API: it plays every role from the prompt alone, and fails as it is set."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.openai_faults import FAULTS
from benchmarks.openai_server import Faults, OpenAIServer
from evolve.gym.bounds import bound_user
from evolve.gym.rollout import Span, World, live
from evolve.gym.sample import make_users
from evolve.gym.users import User, users_of
from evolve.lm.base import LM, Completion, Message, Request
from evolve.lm.dspy_lm import ask
from evolve.lm.offline import OfflineLM
from policies.policy import seed_policy

REPLY = Request("reply", (Message("system", "Be kind."), Message("user", "Hello.")), seed=5)


@dataclass
class HttpLM:
    """A bare client, one connection; every answer as it comes."""

    server: OpenAIServer
    name: str = "m"
    key: str = "none"

    def __post_init__(self) -> None:
        self.connection = HTTPConnection(urlsplit(self.server.base_url).netloc, timeout=60)

    def post(self, request: Request, **more: object) -> HTTPResponse:
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        body = {"model": self.name, "messages": messages, "seed": request.seed, **more}
        headers = {"Authorization": f"Bearer {self.key}"}
        self.connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        return self.connection.getresponse()

    def read(self, request: Request, **more: object) -> tuple[int, dict[str, Any]]:
        response = self.post(request, **more)
        return response.status, json.loads(response.read())

    def complete(self, request: Request) -> Completion:
        status, said = self.read(request, max_tokens=request.max_tokens)
        assert status == 200
        used, choice = said["usage"], said["choices"][0]
        assert choice["finish_reason"] == "stop"
        text = choice["message"]["content"]
        return Completion(text, used["prompt_tokens"], used["completion_tokens"])


@contextmanager
def client(server: OpenAIServer) -> Iterator[HttpLM]:
    with server:
        lm = HttpLM(server)
        try:
            yield lm
        finally:
            lm.connection.close()


@pytest.fixture(scope="module")
def user() -> User:
    return users_of(make_users(7, 1), "sample")[0]


@pytest.mark.parametrize("architecture", ["awe", "awi", "rag", "native", "none"])
def test_a_rollout_is_the_one_of_the_offline_model(architecture: str, user: User) -> None:
    span = Span(periods=4, answers_only=architecture == "none")
    policy, offline = seed_policy(architecture), OfflineLM()
    with client(OpenAIServer()) as lm:
        served = live(policy, user, World(lm, lm, seed=1), span)
        record = lm.server.record
    assert served == live(policy, user, World(offline, offline, seed=1), span)
    assert record.roles == {role: usage.calls for role, usage in served.usage}
    assert record.statuses == {200: sum(record.roles.values())}
    assert record.peak == 1


def test_bounds_are_those_of_the_offline_model(user: User) -> None:
    with client(OpenAIServer()) as lm:
        assert bound_user(user, lm, 1) == bound_user(user, OfflineLM(), 1)
        assert list(lm.server.record.openings) == ["bound"]


def test_rewrites_are_those_of_the_offline_model() -> None:
    def rewritten(lm: LM, name: str, **texts: str) -> str | None:
        from evolve.optimize import rewrite_program

        program = getattr(rewrite_program, name)
        feedback = "### diet: 5 of 12 answers wrong\n\nUnknown."
        fields = {"purpose": "reply_prompt: it replies", "rules": "- At most 400 characters."}
        return ask(lm, 11, lambda: program()(**fields, feedback=feedback, **texts).new_text)

    with client(OpenAIServer()) as lm:
        for name, texts in (
            ("Rewriter", {"current_text": "Be kind."}),
            ("Merger", {"first_text": "Be kind.", "second_text": "Be kind.\nBe brief."}),
        ):
            expected = rewritten(OfflineLM(), name, **texts)
            assert expected != "Be kind."
            assert rewritten(lm, name, **texts) == expected
        assert lm.server.record.roles == {"rewrite": 2}


@pytest.mark.parametrize("task", ["write", "answer", "probe", "bound"])
def test_what_is_asked_again_is_answered_as_at_first(task: str, user: User) -> None:
    asked: list[Request] = []

    class Spy(OfflineLM):
        def complete(self, request: Request) -> Completion:
            asked.append(request)
            return super().complete(request)

    world = World(Spy(), Spy(), seed=1)
    live(seed_policy("awe"), user, world, Span(periods=2))
    bound_user(user, Spy(), 1)
    first = next(request for request in asked if request.task == task)
    again = (*first.messages, Message("assistant", "Hm."), Message("user", "That is no JSON."))
    with client(OpenAIServer()) as lm:
        repeated = Request(first.task, again, first.seed)
        assert lm.complete(repeated) == OfflineLM().complete(first)
        assert list(lm.server.record.roles) == [task]


def test_messages_may_come_in_parts_and_from_a_developer() -> None:
    with client(OpenAIServer()) as lm:
        parts = [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}]
        messages = [{"role": "developer", "content": parts}, {"role": "user", "content": "Hello."}]
        text = OfflineLM().complete(REPLY).text
        said = lm.read(REPLY, messages=messages)[1]
        assert said["choices"][0]["message"]["content"] == text
        for wrong in ([], "text", [{"role": "user", "content": None}]):
            status, said = lm.read(REPLY, messages=wrong)
            assert (status, said["error"]["type"]) == (400, "invalid_request_error")


def test_what_is_longer_than_allowed_is_cut() -> None:
    with client(OpenAIServer()) as lm:
        said = lm.read(REPLY, max_tokens=2)[1]
    assert said["choices"][0]["finish_reason"] == "length"
    assert len(said["choices"][0]["message"]["content"]) == 8
    assert said["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize(
    ("server", "status", "code", "quoted"),
    [
        (OpenAIServer(key="sk-right"), 401, "invalid_api_key", "provided: none."),
        (OpenAIServer(model="other"), 404, "model_not_found", "`m` does not exist"),
        (OpenAIServer(context=9), 400, "context_length_exceeded", "maximum context length is 2 "),
        (OpenAIServer(refuse="Hello"), 400, "content_filter", "content management policy"),
    ],
)
def test_what_is_refused(server: OpenAIServer, status: int, code: str, quoted: str) -> None:
    with client(server) as lm:
        found, said = lm.read(REPLY)
        assert (found, said["error"]["code"]) == (status, code)
        assert quoted in said["error"]["message"]
        assert server.record.statuses == {status: 1}


def test_content_may_be_filtered_and_usage_left_out() -> None:
    with client(OpenAIServer(filtered="Hello", usage=False)) as lm:
        said = lm.read(REPLY)[1]
    assert said["choices"][0]["finish_reason"] == "content_filter"
    assert said["choices"][0]["message"]["content"] is None
    assert "usage" not in said


def test_models_are_listed_to_whoever_has_the_key() -> None:
    with client(OpenAIServer(key="sk-right", model="m")) as lm:
        for key, status in (("sk-right", 200), ("sk-wrong", 401)):
            lm.connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"})
            response = lm.connection.getresponse()
            said = response.read()
            assert response.status == status
        assert b"sk-wrong" in said


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_met_and_passes(kind: str) -> None:
    faults = Faults(**{kind: 1.0}, in_a_row=1, retry_after=0.5, hang_seconds=0.1)  # type: ignore[arg-type]
    with client(OpenAIServer(faults=faults)) as lm:
        try:
            response = lm.post(REPLY)
            status, body = response.status, response.read()
            assert status == {"rate_limit": 429, "server_error": 500, "malformed": 200}[kind]
            if kind == "rate_limit":
                assert response.headers["Retry-After"] == "0.5"
            if kind == "malformed":
                assert b'"choices": [{"index"' not in body
        except (HTTPException, ConnectionError):
            assert kind in {"hang", "cut", "truncated"}
            lm.connection.close()
        assert lm.complete(REPLY) == OfflineLM().complete(REPLY)
        assert lm.server.record.faults == {kind: 1}


def test_answers_take_the_latency_side_by_side_and_errors_do_not() -> None:
    OfflineLM().complete(REPLY)
    with OpenAIServer(latency=0.3) as server:
        seconds: list[float] = []

        def call(number: int) -> None:
            lm = HttpLM(server)
            began = time.monotonic()
            lm.complete(Request("reply", REPLY.messages, number))
            seconds.append(time.monotonic() - began)
            lm.connection.close()

        threads = [threading.Thread(target=call, args=(n,)) for n in range(64)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < 64 * 0.3  # one after the other
        assert min(seconds) >= 0.3
        assert server.record.peak > 16
        assert len(server.bodies) == server.record.requests == 64
    with client(OpenAIServer(latency=30.0, key="sk-right")) as lm:
        assert lm.read(REPLY)[0] == 401


def test_leaving_ends_what_hangs() -> None:
    began = time.monotonic()
    with OpenAIServer(faults=Faults(hang=1.0)) as server:
        lm = HttpLM(server)
        failed: list[Exception] = []

        def call() -> None:
            try:
                lm.post(REPLY)
            except (HTTPException, ConnectionError) as error:
                failed.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        while not server.bodies:
            time.sleep(0.01)
    thread.join(60)
    assert failed
    assert time.monotonic() - began < 60


def test_the_command_serves_and_tells_what_it_has_seen() -> None:
    command = [sys.executable, "-m", "benchmarks.openai_server", "--latency", "0.01"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        connection = HTTPConnection(urlsplit(process.stdout.readline().strip()).netloc, timeout=60)
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        assert connection.getresponse().read()
        connection.request("GET", "/record")
        record = json.loads(connection.getresponse().read())
        connection.close()
        process.terminate()
    assert (record["requests"], record["roles"], record["peak"]) == (1, {"write": 1}, 1)
