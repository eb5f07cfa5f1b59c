"""The one place that knows LiteLLM: sends a request once, and tells failures in our own errors.

What a failure comes to:

| of the provider | here |
|---|---|
| key refused or missing, no permission, no credit, unknown model or provider | `ModelError` |
| nobody listens at the address | `PassingError`; `ModelError` if nobody ever did |
| prompt too long, content refused | `PolicyFailureError` |
| another bad request, where none with these parameters has been taken yet | `ModelError` |
| another bad request after that: it must be what this prompt says | `PolicyFailureError` |
| rate limit, timeout, 5xx, a cut connection, a body that is no reply | `PassingError` |

No error holds a key, nor the exception that caused it, which may.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from types import ModuleType
from typing import Any

from evolve.lm.base import Request, count_tokens
from evolve.lm.calls import sample_of
from evolve.lm.limits import PassingError
from evolve.lm.models import ModelSpec
from evolve.lm.redact import redact, redact_reply
from policies.errors import MnemotuneError, ModelError, PolicyFailureError

_QUOTED = 200  # characters of what a provider says
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|maximum context|too many (?:input )?tokens|"
    r"(?:prompt|input|messages?) (?:is|are) too long|reduce the length",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"content[ _](?:policy|filter|management policy)|safety system|usage polic|moderation|flagged",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"missing credentials|missing .{0,40}api key|api_key client option", re.I)
_NO_CREDIT = re.compile(r"insufficient_quota|exceeded your current quota|credit balance", re.I)
_NO_PROVIDER = "LLM Provider NOT provided"
_FOREWORD = re.compile(r"^(?:(?:litellm\.\w+|\w*Error|\w*Exception)(?: -|:) *)+")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered; see ``evolve.lm.calls.Call``."""

    text: str
    version: str
    prompt_tokens: int
    completion_tokens: int
    provider_cached_tokens: int
    estimated: bool
    seconds: float


class Provider:
    """Sends requests of one model; for several threads.

    Args:
        spec: Of the model.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._taken: set[tuple[int, float]] = set()

    def takes(self, request: Request) -> None:
        """Remember that a request with these parameters has been taken."""
        self._taken.add((request.max_tokens, request.temperature))

    def send(self, request: Request) -> Reply:
        """Send a request once.

        Raises:
            PassingError: It may be taken if it is sent again.
            PolicyFailureError: The provider takes requests, but not this one.
            ModelError: The provider takes no request.
        """
        messages = [
            {"role": message.role, "content": _storable(message.content)}
            for message in request.messages
        ]
        began = time.perf_counter()
        # Raised outside of the handler: an error's context would hold what LiteLLM raised.
        failure: MnemotuneError
        try:
            litellm = _litellm()
            with _quietly():
                response = litellm.completion(
                    model=self._spec.name,
                    messages=messages,
                    api_base=self._spec.api_base,
                    timeout=float(self._spec.timeout),
                    max_tokens=request.max_tokens,
                    temperature=request.temperature,
                    seed=sample_of(request),
                    drop_params=True,
                    num_retries=0,
                    max_retries=0,
                )
            seconds = time.perf_counter() - began
            reply = _read(response, messages, seconds)
            self.takes(request)
            return reply
        except MnemotuneError as error:
            failure = error
        except Exception as error:
            known = (request.max_tokens, request.temperature) in self._taken
            failure = _translate(error, self._spec, known=known)
        raise failure.with_traceback(None)


def price_table() -> Mapping[str, Mapping[str, Any]]:
    """LiteLLM's own price table: model to its prices, as of its release."""
    table: Mapping[str, Mapping[str, Any]] = _litellm().model_cost
    return table


@cache
def _litellm() -> ModuleType:
    """LiteLLM, imported by the first real call, told to be quiet and to look nothing up."""
    # Its price table is of its release; the newest one would be asked for over the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import logging

    import httpx
    import litellm
    from litellm.llms.custom_httpx.http_handler import get_ssl_configuration

    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).disabled = True  # it may quote what it was asked, and keys
    # Connections are kept for as many calls as may be in flight; Limits alone bounds those.
    litellm.client_session = httpx.Client(
        verify=get_ssl_configuration(),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        follow_redirects=True,
        max_redirects=3,
    )
    atexit.register(litellm.client_session.close)
    return litellm


def _quietly() -> AbstractContextManager[None]:
    """Without LiteLLM's own records of a call: a sixth of its time, and a thread."""
    from litellm._internal_context import internal_sub_call

    context: AbstractContextManager[None] = internal_sub_call()
    return context


def _read(response: Any, messages: list[dict[str, str]], seconds: float) -> Reply:
    """A response as a reply.

    Raises:
        PassingError: It has no choice.
        PolicyFailureError: Its content was filtered away.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        raise PassingError("the provider's reply holds no choice")
    text = choices[0].message.content
    if not text and choices[0].finish_reason == "content_filter":
        raise PolicyFailureError("the provider refused the content and gave no reply")
    text = redact_reply(_storable(text if isinstance(text, str) else ""))
    usage = getattr(response, "usage", None)
    prompt = _number(usage, "prompt_tokens")
    completion = _number(usage, "completion_tokens")
    estimated = not prompt
    if estimated:
        prompt = sum(count_tokens(message["content"]) for message in messages)
        completion = count_tokens(text)
    cached = min(_number(getattr(usage, "prompt_tokens_details", None), "cached_tokens"), prompt)
    versions = (response.model, getattr(response, "system_fingerprint", None))
    version = " ".join(each for each in versions if isinstance(each, str))
    return Reply(text, redact(version), prompt, completion, cached, estimated, seconds)


def _number(holder: object, name: str) -> int:
    value = getattr(holder, name, None)
    return max(value, 0) if isinstance(value, int) else 0


def _storable(text: str) -> str:
    """The text without halves of characters, which have no UTF-8."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _translate(error: Exception, spec: ModelSpec, *, known: bool) -> MnemotuneError:
    """What a failure comes to, told without any key.

    Args:
        error: As LiteLLM raised it.
        spec: Of the model.
        known: Whether a request with the same parameters has been taken before.
    """
    causes = {type(each).__name__ for each in _causes(error)}
    status = getattr(error, "status_code", None)
    text = f"{getattr(error, 'message', error)} {_body(error)}"
    said = _quote(error, spec)
    kind = type(error).__name__
    if _NO_CREDIT.search(text) or status == 402:
        return _no_credit(spec, said)
    if kind == "RateLimitError" or status == 429:
        return PassingError(
            f"the provider limits calls{said}", limited=True, retry_after=_retry_after(error)
        )
    if causes & {"ConnectError", "ConnectTimeout"}:
        return _unreachable(spec)
    if _malformed(error):
        return PassingError("the provider's reply cannot be read")
    client_error = isinstance(status, int) and 400 <= status < 500 and status not in {408, 409, 425}
    if client_error or _NO_KEY.search(text):
        return _refusal(spec, text, said, status=status, kind=kind, known=known)
    what = "no reply in time" if kind == "Timeout" else "the provider failed"
    return PassingError(f"{what}{said}", retry_after=_retry_after(error))


def _refusal(
    spec: ModelSpec, text: str, said: str, *, status: object, kind: str, known: bool
) -> MnemotuneError:
    """What a 4xx comes to."""
    if kind == "ContextWindowExceededError" or status == 413 or _TOO_LONG.search(text):
        return PolicyFailureError(f"the prompt is too long for the model{said}")
    if kind == "ContentPolicyViolationError" or _REFUSED.search(text):
        return PolicyFailureError(f"the provider refused the content{said}")
    if status in {401, 403} or _NO_KEY.search(text):
        return _no_key(spec, said)
    if status == 404 or _NO_PROVIDER in text:
        said = "" if _NO_PROVIDER in text else said
        return ModelError(
            "A model is named as LiteLLM names it, provider/model, and must be there, but "
            f"{spec.name} is unknown{_at(spec)}{said}; mend --model, or --api-base."
        )
    if known:
        return PolicyFailureError(f"the provider takes no such prompt{said}")
    return ModelError(
        f"A model must take requests as Mnemotune makes them, but {spec.name}{_at(spec)} refused "
        f"one ({status}){said}; name another model, or mend its server."
    )


def _no_key(spec: ModelSpec, said: str) -> ModelError:
    provider = _litellm().get_llm_provider(spec.name)[1]
    variable = re.sub(r"\W", "_", provider).upper() + "_API_KEY"
    return ModelError(
        f"A model is asked with the key that the environment or .env holds, but {spec.name}"
        f"{_at(spec)} did not take it{said}; set the key of that provider, as a rule {variable} "
        "(any word for a server that wants none)."
    )


def _no_credit(spec: ModelSpec, said: str) -> ModelError:
    return ModelError(
        f"Calls are paid by the account of the key, but that of {spec.name} has nothing left{said};"
        " add credit, then resume the run."
    )


def _unreachable(spec: ModelSpec) -> PassingError:
    where = redact(spec.api_base) if spec.api_base else "the provider's own address"
    return PassingError(
        f"nobody listens at {where}",
        unreachable=f"A model is asked at its address, but nobody listens at {where} for "
        f"{spec.name}; mend --api-base, start its server, or look at the network.",
    )


def _at(spec: ModelSpec) -> str:
    return f" at {redact(spec.api_base)}" if spec.api_base else ""


def _quote(error: Exception, spec: ModelSpec) -> str:
    """The beginning of what a provider says, without keys and in one line."""
    text = str(getattr(error, "message", None) or error)[: 10 * _QUOTED]
    text = _FOREWORD.sub("", " ".join(redact(text).split()))
    if not text or text == "None":
        return ""
    return f" (it says: {text[:_QUOTED].rstrip('. ')}{'…' if len(text) > _QUOTED else ''})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _malformed(error: Exception) -> bool:
    """Whether a reply came, as HTTP goes, but could not be read.

    LiteLLM gives such a failure a status of its own, even 422; then the exception that it began
    with is not one of HTTP.
    """
    return any(
        type(cause) is Exception or isinstance(cause, json.JSONDecodeError)
        for cause in _causes(error)
    )


def _body(error: Exception) -> str:
    """Codes of an error's body, which LiteLLM's message leaves out."""
    body = getattr(error, "body", None)
    return " ".join(str(value) for value in body.values()) if isinstance(body, Mapping) else ""


def _retry_after(error: Exception) -> float | None:
    """Seconds that the provider asks to wait, None if it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    headers = headers or getattr(error, "litellm_response_headers", None) or {}
    exact = _float(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    told = headers.get("retry-after")
    seconds = _float(told)
    if seconds is not None or not told:
        return seconds
    try:
        return max(parsedate_to_datetime(told).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError):
        return None


def _float(text: str | None) -> float | None:
    try:
        return max(float(text), 0.0) if text else None
    except ValueError:
        return None
