"""What a provider's replies and failures come to, over HTTP on loopback."""

from __future__ import annotations

import json
import threading
import time
import traceback
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evolve.lm.base import Message, Request
from evolve.lm.limits import PassingError
from evolve.lm.models import ModelSpec
from evolve.lm.provider import Provider, Reply
from policies.errors import MnemotuneError, ModelError, PolicyFailureError
from tests.evolve.lm.chat_server import ChatServer, Play, fails, says

KEY = "sk-test-Zx81Qw72Er63Ty54"
REQUEST = Request("reply", (Message("system", "Be brief."), Message("user", "Hi")), seed=7)
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def asked(played: Play, request: Request = REQUEST) -> tuple[Reply, dict, str]:
    with ChatServer(lambda number, body: played) as server:
        reply = Provider(ModelSpec("openai/test-1", server.base)).send(request)
        return reply, server.bodies[0], server.keys[0]


def failed(played: Play, *, known: bool = False, timeout: float = 30.0) -> tuple[Exception, int]:
    with ChatServer(lambda number, body: played) as server:
        provider = Provider(ModelSpec("openai/test-1", server.base, timeout))
        if known:
            provider.takes(REQUEST)
        with pytest.raises((PassingError, PolicyFailureError, ModelError)) as caught:
            provider.send(REQUEST)
        return caught.value, len(server.bodies)


def leaks(text: str) -> bool:
    return any(KEY[n : n + 8] in text for n in range(len(KEY) - 7))


def test_a_request_is_sent_as_it_is_with_the_key_of_the_environment() -> None:
    reply, body, key = asked(says("ok", system_fingerprint="fp_1"))
    assert body == {
        "model": "test-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
        "max_tokens": 1024,
        "temperature": 0.0,
        "seed": 0,  # what the cache keeps apart, and no more, may change a reply
    }
    assert key == f"Bearer {KEY}"
    assert (reply.text, reply.version) == ("ok", "test-1-2024 fp_1")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (7, 2, False)


@pytest.mark.parametrize(
    ("told", "version"),
    [
        ({}, "test-1-2024"),
        ({"system_fingerprint": "fp_1"}, "test-1-2024 fp_1"),
        ({"model": ..., "system_fingerprint": "fp_1"}, "fp_1"),
        ({"model": ...}, ""),
        ({"model": None}, ""),
    ],
)
def test_the_version_is_what_the_provider_tells_and_nothing_else(told: dict, version: str) -> None:
    assert asked(says(**told))[0].version == version


def test_samples_differ_by_their_seed() -> None:
    _, body, _ = asked(says(), Request("rewrite", REQUEST.messages, 2**40 + 5, 64, 1.0))
    assert (body["seed"], body["temperature"], body["max_tokens"]) == (5, 1.0, 64)


def test_tokens_of_the_providers_cache_are_read() -> None:
    usage = {"prompt_tokens": 70, "completion_tokens": 2, "total_tokens": 72}
    details = {"prompt_tokens_details": {"cached_tokens": 64}}
    assert asked(says(usage={**usage, **details}))[0].provider_cached_tokens == 64


def test_tokens_that_a_provider_does_not_count_are_estimated() -> None:
    reply, _, _ = asked(says("four by four by", usage=...))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (4, 4, True)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 10**400, "completion_tokens": 5}, (4, 5)),
        ({"prompt_tokens": 10**24, "completion_tokens": 10**24}, (4, 4)),
        ({"prompt_tokens": "x", "completion_tokens": 5}, (4, 5)),
        ({"prompt_tokens": 10}, (10, 4)),
        ({"completion_tokens": 3}, (4, 3)),
        ({"prompt_tokens": -1, "completion_tokens": -5}, (4, 4)),
        ([1], (4, 4)),
    ],
)
def test_a_count_that_cannot_be_is_estimated_by_itself(usage: object, counts: tuple) -> None:
    reply, _, _ = asked(says("four by four by", usage=usage))
    assert ((reply.prompt_tokens, reply.completion_tokens), reply.estimated) == (counts, True)


def test_a_reply_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a "}, {"type": "image"}, 7, {"type": "text", "text": "b"}]
    assert asked(says(parts))[0].text == "a b"  # type: ignore[arg-type]


def test_what_was_answered_by_nothing_readable_is_told_and_nothing_else_is() -> None:
    for played, told in (
        (says(7), [(4, 61)]),  # type: ignore[arg-type]
        (says(choices=[]), [(4, 48)]),
        (Play(body="<html>Bad gateway</html>"), [(4, 6)]),
        (Play(body='{"id": "x"', promised=500), [(4, 3)]),
        (fails(500), []),
        (fails(400), []),
        (Play(cut=True), []),
        (says(), []),
    ):
        lost: list[tuple[int, int]] = []
        with ChatServer(lambda number, body, played=played: played) as server:
            spec = ModelSpec("openai/test-1", server.base)
            provider = Provider(spec, lambda request, *counts, lost=lost: lost.append(counts))
            with suppress(MnemotuneError):
                provider.send(REQUEST)
        assert [read for read, _ in lost] == [read for read, _ in told], played
        assert lost == told or abs(lost[0][1] - told[0][1]) < 20, (played, lost)


def test_an_address_that_redirects_is_told() -> None:
    for status, to in ((302, "/else"), (308, "file:///etc/passwd")):
        with pytest.raises(
            ModelError, match=f"redirects to {to}; give the right one by --api-base"
        ):
            asked(Play(status, headers={"Location": to}))


def test_a_version_is_short_and_has_nothing_for_a_terminal() -> None:
    assert asked(says(model="v\x1b[2J1" + "M" * 100_000))[0].version == "v1" + "M" * 194


def test_a_key_that_cannot_be_sent_needs_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + "\n")
    with pytest.raises(ModelError, match="a line break"):
        Provider(ModelSpec("openai/test-1", NOWHERE)).send(REQUEST)


def test_an_error_that_quotes_the_prompt_is_no_empty_account() -> None:
    quoting = fails(400, "invalid input: 'your credit balance is too low', they said")
    assert isinstance(failed(quoting, known=True)[0], PolicyFailureError)
    empty = fails(400, "Your credit balance is too low to access the API.")
    with pytest.raises(ModelError, match="has nothing left"):
        raise failed(empty, known=True)[0]


def test_of_a_refused_key_nothing_is_quoted() -> None:
    for status in (401, 403):
        assert "as it happens" not in str(failed(fails(status, "as it happens"))[0])


def test_an_empty_reply_is_an_empty_text() -> None:
    assert asked(says(None))[0].text == ""


def test_a_reply_can_be_stored_and_holds_no_key() -> None:
    assert asked(says(f"\ud800 {KEY} ü"))[0].text == "? [removed] ü"
    asked(says(), Request("reply", (Message("user", "\ud800"),)))


def error(code: str, message: str = "no") -> Play:
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code}}
    return Play(400, json.dumps(body))


PASSING = {
    "429": fails(429),
    "500": fails(500),
    "502": fails(502),
    "503": fails(503),
    "504": fails(504),
    "529": fails(529),
    "408": fails(408),
    "cut": Play(cut=True),
    "malformed": Play(body='{"id": "x", "choi'),
    "html": Play(body="<html>Bad gateway</html>"),
    "truncated": Play(body='{"id": "x"', promised=500),
    "empty": Play(),
    "null": Play(body="null"),
    "a list": Play(body="[]"),
    "no choices": says(choices=[]),
    "no field choices": says(choices=...),
    "an error as 200": Play(body='{"error": {"message": "overloaded"}}'),
}
REFUSED = {
    "long": fails(400, "This model's maximum context length is 8192 tokens."),
    "long, llama.cpp": fails(400, "the request exceeds the available context size"),
    "long, by code": error("context_length_exceeded"),
    "413": fails(413),
    "long, for the account": fails(429, "Request too large for test-1: limit 10, requested 12"),
    "content": error("content_policy_violation"),
    "content, filter": error("content_filter"),
    "content, 403": fails(403, "Your input was flagged by moderation"),
    "content, 200": says(
        choices=[{"index": 0, "finish_reason": "content_filter", "message": {"role": "assistant"}}]
    ),
}
ENDING = {
    "401": (fails(401), "OPENAI_API_KEY"),
    "401 in HTML": (Play(401, "<html>"), "OPENAI_API_KEY"),
    "403": (fails(403), "OPENAI_API_KEY"),
    "401, deactivated": (fails(401, "Deactivated: see our usage policies"), "OPENAI_API_KEY"),
    "404": (fails(404, "The model `test-1` does not exist"), "is unknown at http://127"),
    "402": (fails(402), "add credit"),
    "no credit": (
        Play(429, '{"error": {"message": "Quota.", "code": "insufficient_quota"}}'),
        "add credit",
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_may_pass_is_said_to_be_so_after_one_request(name: str) -> None:
    failure, requests = failed(PASSING[name])
    assert isinstance(failure, PassingError), failure
    assert (requests, failure.unreachable, failure.limited) == (1, None, name == "429")


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_prompt_is_the_policys_failure(name: str) -> None:
    failure, requests = failed(REFUSED[name])
    assert isinstance(failure, PolicyFailureError), failure
    assert requests == 1


@pytest.mark.parametrize("name", ENDING)
def test_what_no_request_can_mend_ends_the_run(name: str) -> None:
    played, told = ENDING[name]
    failure, requests = failed(played, known=True)
    assert isinstance(failure, ModelError), failure
    assert told in str(failure)
    assert "openai/test-1" in str(failure)
    assert requests == 1


@pytest.mark.parametrize("status", [400, 422])
def test_a_bad_request_is_ours_until_one_like_it_was_taken(status: int) -> None:
    wrong = fails(status, "Unknown parameter: 'seed'")
    assert isinstance(failed(wrong)[0], ModelError)
    assert isinstance(failed(wrong, known=True)[0], PolicyFailureError)


def test_a_slow_provider_is_given_up_after_the_timeout() -> None:
    began = time.monotonic()
    failure, requests = failed(Play(body="{}", delay=60.0), timeout=0.3)
    assert isinstance(failure, PassingError)
    assert (requests, time.monotonic() - began < 30) == (1, True)


@pytest.mark.filterwarnings("ignore::UserWarning:pydantic")  # of LiteLLM's code for Gemini
def test_other_providers_are_told_apart_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    wrong = {"type": "error", "error": {"type": "x", "message": f"invalid {KEY}"}}
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3}
    content = [{"type": "text", "text": "ok"}]
    good = {"id": "m", "type": "message", "role": "assistant", "model": "c-1", "usage": usage}
    good |= {"content": content, "stop_reason": "end_turn"}
    plays = [
        Play(body=json.dumps(good)),
        Play(401, json.dumps(wrong)),
        Play(429, json.dumps(wrong), {"Retry-After": "2"}),
        Play(body="{}"),
    ]
    with ChatServer(lambda number, body: plays[number]) as server:
        claude = Provider(ModelSpec("anthropic/claude-sonnet-4-5", server.base))
        reply = claude.send(REQUEST)
        assert (reply.text, reply.prompt_tokens, reply.provider_cached_tokens) == ("ok", 8, 3)
        told = r"did not take it; set the key .*ANTHROPIC_API_KEY"
        with pytest.raises(ModelError, match=told):
            claude.send(REQUEST)
        with pytest.raises(PassingError) as caught:
            claude.send(REQUEST)
        assert (caught.value.limited, caught.value.retry_after) == (True, 2)
        with pytest.raises(PassingError, match="cannot be read"):
            Provider(ModelSpec("gemini/gemini-2.5-flash", server.base)).send(REQUEST)


@pytest.mark.parametrize("base", [NOWHERE, "http://nowhere.invalid/v1"])
def test_an_address_where_nobody_listens_is_named(base: str) -> None:
    with pytest.raises(PassingError) as caught:
        Provider(ModelSpec("openai/test-1", base)).send(REQUEST)
    assert base in str(caught.value.unreachable)
    assert "--api-base" in str(caught.value.unreachable)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gibberish", "gibberish is unknown"),
        ("nobody/model", "nobody/model is unknown"),
        ("openai/test-1", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_wrong_name_and_a_missing_key_need_no_request(
    name: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError, match=told):
        Provider(ModelSpec(name)).send(REQUEST)


def test_how_long_a_provider_asks_to_wait_is_read_in_every_form() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    for headers, least, most in (
        ({"Retry_After": "1.5"}, 1.5, 1.5),
        ({"Retry_After": "2", "retry_after_ms": "150"}, 0.15, 0.15),
        ({"Retry_After": date}, 20, 31),
        *(({"Retry_After": odd}, None, None) for odd in ("soon", "nan", "inf", "-inf")),
        ({}, None, None),
    ):
        failure, _ = failed(fails(429, **headers))
        assert isinstance(failure, PassingError)
        if least is None:
            assert failure.retry_after is None
        else:
            assert least <= failure.retry_after <= most
    assert failed(fails(503, Retry_After="2"))[0].retry_after == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503])
def test_no_error_holds_a_key_or_what_caused_it(status: int) -> None:
    said = f"Incorrect key {KEY[:11]}***{KEY[-8:]}, {KEY}, at {NOWHERE}/{KEY[3:15]}"
    failure, _ = failed(fails(status, said, x_key=KEY))
    told = "".join(traceback.format_exception(failure)) + repr(failure) + repr(vars(failure))
    assert not leaks(told), told
    assert (failure.__cause__, failure.__context__) == (None, None)


def test_litellm_is_quiet_and_starts_no_threads(capfd: pytest.CaptureFixture[str]) -> None:
    asked(says())
    failed(fails(401, KEY))
    assert capfd.readouterr() == ("", "")
    assert not [each.name for each in threading.enumerate() if "litellm" in each.name]


def test_a_server_of_ones_own_may_have_a_prefix_of_its_own() -> None:
    with ChatServer(lambda number, body: says("ok")) as server:
        reply = Provider(ModelSpec("hosted_vllm/test-1", server.base)).send(REQUEST)
        assert (reply.text, server.bodies[0]["model"]) == ("ok", "test-1")
        assert KEY not in server.keys[0]


@pytest.mark.parametrize("status", [401, 404])
def test_that_an_address_serves_all_models_of_a_provider_is_said(status: int) -> None:
    said = str(failed(fails(status))[0])
    assert "--api-base serves every model of the first one's provider: a server of your" in said
