"""The one place that knows LiteLLM: sends a request once, and tells failures in our own errors.

No error that leaves it holds a key, nor the exception that caused it, which may.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from types import ModuleType
from typing import Any

from evolve.lm.base import Request
from evolve.lm.calls import sample_of
from evolve.lm.faults import moved, translate
from evolve.lm.keys import check_key
from evolve.lm.limits import PassingError
from evolve.lm.models import ModelSpec
from evolve.lm.replies import Reply, estimate, read_body, read_response, storable
from evolve.lm.wire import MOST_BYTES, Exchange, Transport, exchange
from policies.errors import MnemotuneError, PolicyFailureError


def _forget(request: Request, read: int, written: int) -> None:
    """Count nothing."""


class Provider:
    """Sends requests of one model; for several threads.

    Args:
        spec: Of the model.
        lost: Is told of a request how many tokens were read and written, by a guess, where a
            response was begun and nothing can be had from it: it may be paid for.
    """

    def __init__(
        self, spec: ModelSpec, lost: Callable[[Request, int, int], None] = _forget
    ) -> None:
        self._spec = spec
        self._lost = lost
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
        # Raised outside of the handler: an error's context would hold what LiteLLM raised.
        failure: MnemotuneError
        if not self._taken:
            check_key(self._spec.name)
        litellm = _litellm()
        with exchange(self._spec.timeout) as told:
            began = time.perf_counter()
            try:
                response = self._ask(litellm, request)
                seconds = time.perf_counter() - began
                reply = read_response(response, request, self._spec.name, seconds)
                self.takes(request)
                return reply
            except MnemotuneError as error:
                failure = error
            except Exception as error:
                failure = self._failure(error, request, told)
            seconds = time.perf_counter() - began
        if told.status == 200:
            saved = read_body(told.body, request, self._spec.name, seconds)
            if saved is not None and not isinstance(failure, PolicyFailureError):
                self.takes(request)
                return saved
            written = min(-(-len(told.body) // 4), request.max_tokens)
            self._lost(request, estimate(request), written)
        raise failure.with_traceback(None)

    def _ask(self, litellm: ModuleType, request: Request) -> Any:
        messages = [
            {"role": message.role, "content": storable(message.content)}
            for message in request.messages
        ]
        with _quietly():
            return litellm.completion(
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

    def _failure(self, error: Exception, request: Request, told: Exchange) -> MnemotuneError:
        """What an exception of LiteLLM's comes to."""
        if told.status is not None and 300 <= told.status < 400:
            return moved(self._spec, told.location)
        if len(told.body) > MOST_BYTES:
            return PassingError(f"the provider's reply is larger than {MOST_BYTES // 10**6} MB")
        known = (request.max_tokens, request.temperature) in self._taken
        return translate(error, self._spec, known=known)


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
    # One for providers that are asked through their SDK, and for those that LiteLLM asks itself.
    transport = litellm.sync_transport = Transport(get_ssl_configuration())
    litellm.client_session = httpx.Client(
        transport=transport, follow_redirects=True, max_redirects=3
    )
    atexit.register(transport.end)
    return litellm


def _quietly() -> AbstractContextManager[None]:
    """Without LiteLLM's own records of a call: a sixth of its time, and a thread."""
    from litellm._internal_context import internal_sub_call

    context: AbstractContextManager[None] = internal_sub_call()
    return context
