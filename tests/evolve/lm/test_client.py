"""The client: log, limits and provider together, over HTTP on loopback."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.openai_server import Faults, OpenAIServer
from evolve.lm import limits as limits_module
from evolve.lm import models
from evolve.lm.allowance import Allowance, Caps
from evolve.lm.base import Message, Request
from evolve.lm.calls import FILE, CallLog
from evolve.lm.client import LiteLLMClient
from evolve.lm.limits import Limits
from evolve.lm.models import Connection, ModelSpec, connect, make_lm
from evolve.lm.offline import OfflineLM
from evolve.lm.prefix import Prefixes
from evolve.lm.provider import Reply
from policies.errors import (
    BudgetExhaustedError,
    ModelError,
    OutsideFailureError,
    PolicyFailureError,
)
from tests.evolve.lm.chat_server import ChatServer, Play, fails, says

ROOT = Path(__file__).parents[3]
KEY = "sk-test-Zx81Qw72Er63Ty54"


@pytest.fixture(autouse=True)
def _setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(limits_module, "FIRST_WAIT", 0.01)


@contextmanager
def client(base: str, folder: Path | None = None, **options: Any) -> Iterator[LiteLLMClient]:
    spec = ModelSpec("openai/test-1", base, 5.0, options.pop("price", None))
    with CallLog(folder) as log:
        yield LiteLLMClient(spec, Connection(log, Limits(**options), Prefixes()))


def request(text: str = "Hi", task: str = "reply") -> Request:
    return Request(task, (Message("user", text),))


def played(script: Callable[[int, dict], Play] = lambda number, body: says()) -> ChatServer:
    return ChatServer(script)


def log_of(lm: LiteLLMClient) -> CallLog:
    return lm._connection.log


def test_a_call_is_paid_once_and_recorded(tmp_path: Path) -> None:
    with played() as server:
        for _ in range(2):
            with client(server.base, tmp_path, price=(1e6, 2e6)) as lm:
                assert lm.name == "openai/test-1"
                done = lm.complete(request())
                assert (done.text, done.prompt_tokens, done.completion_tokens) == ("ok", 7, 2)
                assert lm.complete(request()) == done
                spent = log_of(lm).spent()["reply"]
                assert (spent.calls, spent.dollars) == (1, 11.0)
        assert len(server.bodies) == 1
    line = (tmp_path / FILE).read_text()
    assert '"version": "test-1-2024"' in line
    assert "estimated" not in line


def test_many_threads_share_one_call_and_keep_to_the_limit() -> None:
    with played(lambda number, body: says(body["messages"][0]["content"], delay=0.05)) as server:
        with client(server.base, concurrency=8) as lm, ThreadPoolExecutor(32) as pool:
            texts = [str(number % 16) for number in range(64)]
            done = pool.map(lambda text: lm.complete(request(text)).text, texts)
            assert list(done) == texts
        assert len(server.bodies) == 16
        assert server.peak <= 8


def test_a_wrong_key_ends_it_with_one_request_and_soon() -> None:
    with played(lambda number, body: fails(401, f"Incorrect API key: {KEY}")) as server:
        began = time.monotonic()
        with client(server.base) as lm, ThreadPoolExecutor(16) as pool:
            for each in [pool.submit(lm.complete, request(str(n))) for n in range(16)]:
                with pytest.raises(ModelError) as caught:
                    each.result()
                assert KEY[:8] not in str(caught.value)
        assert (len(server.bodies), time.monotonic() - began < 30) == (1, True)


def test_nobody_at_the_address_is_told_within_seconds() -> None:
    began = time.monotonic()
    with client("http://127.0.0.1:9/v1") as lm, pytest.raises(ModelError, match=r"127\.0\.0\.1:9"):
        lm.complete(request())
    assert time.monotonic() - began < 30


def test_faults_on_the_way_change_nothing(tmp_path: Path) -> None:
    texts = [f"I like {thing}." for thing in ("tea", "rain", "chess", "boats", "salt", "owls")]
    told = {}
    for faults in (None, Faults(3, 0.1, 0.1, 0.02, 0.1, 0.1, 0.1, 0.1, 0.3)):
        with OpenAIServer(faults=faults, key=KEY) as server:
            folder = tmp_path / str(len(told))
            with client(server.base_url, folder) as lm, ThreadPoolExecutor(6) as pool:
                told[folder] = list(pool.map(lambda text: lm.complete(request(text)), texts * 3))
                calls = log_of(lm).spent()["reply"].calls
                assert calls > len(texts) if faults else calls == len(texts), "lost ones count"
                if faults:
                    assert lm._connection.limits.retries > 0
    one, other = told.values()
    assert one == other


def test_what_fails_again_and_again_is_no_reply(tmp_path: Path) -> None:
    with played(lambda number, body: fails(500)) as server, client(server.base, tmp_path) as lm:
        with pytest.raises(OutsideFailureError):
            lm.complete(request())
        assert (len(server.bodies), (tmp_path / FILE).read_bytes()) == (6, b"")


def test_tries_that_were_answered_unreadably_are_paid(tmp_path: Path) -> None:
    script = lambda number, body: says(choices=[]) if number < 2 else says()  # noqa: E731
    with played(script) as server, client(server.base, tmp_path, price=(1e6, 1e6)) as lm:
        assert lm.complete(request()).text == "ok"
        paid = log_of(lm).spent()["reply"]
        assert (paid.calls, paid.prompt_tokens) == (3, 1 + 1 + 7)
        assert paid.completion_tokens > 2 + 2 * 20
    with CallLog(tmp_path) as log:
        assert log.spent()["reply"] == paid


def test_what_was_lost_counts_before_the_next_try() -> None:
    allowance = Allowance(Caps(tokens=1060.0))
    with played(lambda number, body: says(choices=[])) as server:
        with client(server.base, allowance=allowance) as lm:
            with pytest.raises(BudgetExhaustedError, match="nothing that can be read"):
                lm.complete(request())
            assert log_of(lm).cost().tokens <= 1060
        assert len(server.bodies) == 1


def test_a_bad_request_of_a_kind_that_was_taken_is_the_policys(tmp_path: Path) -> None:
    script = lambda number, body: says() if number == 0 else fails(400, "bad")  # noqa: E731
    with played(script) as server:
        with client(server.base, tmp_path) as lm:
            lm.complete(request())
            with pytest.raises(PolicyFailureError):
                lm.complete(request("other"))
        with client(server.base, tmp_path) as lm:  # resumed: the first one is in the log
            lm.complete(request())
            with pytest.raises(PolicyFailureError):
                lm.complete(request("other"))


def test_a_budget_in_dollars_holds_before_a_call_is_sent() -> None:
    allowance = Allowance(Caps(dollars=2.0))
    with (
        played() as server,
        client(server.base, price=(1000.0, 1000.0), allowance=allowance) as lm,
    ):
        lm.complete(request())  # 1025 tokens at worst, at 0.001 each; 0.009 in truth
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: lm.complete(request(str(n))), range(100)))
        with pytest.raises(BudgetExhaustedError):
            _ = [lm.complete(request(str(number))) for number in range(100, 400)]
        assert 0.9 < (log_of(lm).cost().dollars or 0) <= 2.0


def test_prefixes_are_counted_for_what_is_sent() -> None:
    with played() as server, client(server.base) as lm:
        for text in ("a", "b", "b"):
            lm.complete(Request("reply", (Message("system", "s" * 1280), Message("user", text))))
        assert lm._connection.prefixes.shares()["reply"] == pytest.approx(0.5, abs=0.02)


def test_models_are_made_once_per_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_connection", None)
    monkeypatch.setattr(models, "_models", {})
    spec = ModelSpec("openai/test-1", "http://127.0.0.1:9/v1")
    with CallLog() as log, CallLog() as other:
        connect(Connection(log, Limits(), Prefixes()))
        lm = make_lm(spec)
        assert make_lm(ModelSpec("openai/test-1", "http://127.0.0.1:9/v1")) is lm
        assert make_lm(ModelSpec("openai/test-1")) is not lm
        connect(Connection(other, Limits(), Prefixes()))
        assert make_lm(spec) is not lm
    assert isinstance(make_lm(ModelSpec("offline")), OfflineLM)


def test_the_offline_run_imports_no_client() -> None:
    code = """
import sys
import evolve, evolve.loop, evolve.policy_run
from evolve.lm.base import Message, Request
from evolve.lm.models import ModelSpec, make_lm
make_lm(ModelSpec("offline")).complete(Request("reply", (Message("user", "Hi"),)))
loaded = {"litellm", "openai", "httpx", "tenacity", "dotenv"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_own_overhead_of_a_call_is_small() -> None:
    """All of ours but LiteLLM and the network, in CPU time."""
    with CallLog() as log:
        lm = LiteLLMClient(
            ModelSpec("openai/test-1", price=(1.0, 1.0)), Connection(log, Limits(), Prefixes())
        )
        lm._provider.send = lambda request: Reply("ok " * 100, "v", 900, 100, 0, False, 0.2)
        messages = (Message("system", "s" * 6000), Message("user", "u" * 500))
        lm.complete(Request("reply", messages))
        began = time.process_time()
        for number in range(300):
            lm.complete(Request("reply", (*messages, Message("user", str(number)))))
        assert (time.process_time() - began) / 300 < 0.002
