"""A real model: asked through LiteLLM, never for the same thing twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from uuid import uuid4

from evolve.lm.allowance import Cost
from evolve.lm.base import Completion, Request
from evolve.lm.call import Call
from evolve.lm.calls import request_key
from evolve.lm.models import Connection, ModelSpec
from evolve.lm.prices import Price, price_of
from evolve.lm.provider import Provider

_BYTES_PER_TOKEN = 3  # at worst, for what a prompt may cost; it is about four


class LiteLLMClient:
    """An ``LM`` for any name that LiteLLM knows; for several threads.

    A request goes through the log, which may have its reply; then the limits, which let it wait,
    refuse it or send it again; then the provider.

    Args:
        spec: Of the model.
        connection: What the models of this process share.
    """

    def __init__(self, spec: ModelSpec, connection: Connection) -> None:
        self._spec = spec
        self._connection = connection
        self._provider = Provider(spec, self._lose)
        self._endpoint = f"{spec.name} {spec.api_base or ''}"

    @property
    def name(self) -> str:
        """The model's name as the user gave it."""
        return self._spec.name

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            OutsideFailureError: The network or the provider failed, again and again.
            PolicyFailureError: The prompt is too long, or its content was refused.
            ModelError: The model cannot be used as it is named; ends the run.
            BudgetExhaustedError: The call might cost more than is left; nothing was sent.
            RunFolderError: The reply could not be kept.
        """
        key = request_key(self._spec.name, self._spec.api_base, request)
        call = self._connection.log.once(key, request.task, self._payer(key, request))
        self._provider.takes(request)
        return Completion(call.text, call.prompt_tokens, call.completion_tokens)

    def _payer(self, key: str, request: Request) -> Callable[[], AbstractContextManager[Call]]:
        return lambda: self._pay(key, request)

    @contextmanager
    def _pay(self, key: str, request: Request) -> Iterator[Call]:
        """Make the call; what it may cost stays reserved until it has been logged."""
        limits, price = self._connection.limits, price_of(self._spec)
        with limits.allowance.reserve(_worst(price, request), self._connection.log.cost):
            self._connection.prefixes.sent(self._endpoint, request.task, request.messages)
            reply = limits.call(self._endpoint, lambda: self._provider.send(request))
            counts = reply.prompt_tokens, reply.completion_tokens, reply.provider_cached_tokens
            yield Call(
                key=key,
                role=request.task,
                model=self._spec.name,
                version=reply.version,
                text=reply.text,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                provider_cached_tokens=reply.provider_cached_tokens,
                dollars=None if price is None else price.of(*counts),
                seconds=round(reply.seconds, 4),
                estimated=reply.estimated,
            )

    def _lose(self, request: Request, read: int, written: int) -> None:
        """Count a try that was answered, but by nothing that can be read.

        It stands in the log like a call, under a key that no request has.
        """
        price = price_of(self._spec)
        log = self._connection.log
        log.lose(
            Call(
                key=sha256(uuid4().bytes).hexdigest(),
                role=request.task,
                model=self._spec.name,
                version="",
                text="",
                prompt_tokens=read,
                completion_tokens=written,
                provider_cached_tokens=0,
                dollars=None if price is None else price.of(read, written),
                seconds=0.0,
                estimated=True,
            )
        )
        # What was lost is gone beside what stays reserved for the next try.
        self._connection.limits.allowance.check_spent(log.cost())


def _worst(price: Price | None, request: Request) -> Cost:
    """What a call may cost at most."""
    size = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    read = size // _BYTES_PER_TOKEN + 1
    dollars = None if price is None else price.of(read, request.max_tokens)
    return Cost(read + request.max_tokens, dollars)
