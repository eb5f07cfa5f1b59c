"""The one place that knows LiteLLM: sends a request once, and tells failures in our own errors.

No error that leaves it holds a key, nor the exception that caused it, which may.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from evolve.lm.base import Request, count_tokens
from evolve.lm.calls import sample_of
from evolve.lm.faults import translate
from evolve.lm.limits import PassingError
from evolve.lm.models import ModelSpec
from evolve.lm.redact import redact, redact_reply
from policies.errors import MnemotuneError, PolicyFailureError


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
            failure = translate(error, self._spec, known=known)
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
    import warnings

    import httpx
    import litellm
    from litellm.llms.custom_httpx.http_handler import get_ssl_configuration

    litellm.suppress_debug_info = True
    warnings.filterwarnings("ignore", module=r"(?:litellm|pydantic)\b")  # of LiteLLM's own code
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
