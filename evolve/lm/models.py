"""Makes models by name: what names one can be handed to other processes, a model itself cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evolve.lm.base import LM
from evolve.lm.offline import OfflineLM

if TYPE_CHECKING:
    from evolve.lm.calls import CallLog
    from evolve.lm.limits import Limits
    from evolve.lm.prefix import Prefixes


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model, and how it is reached; holds no secret.

    Attributes:
        name: ``offline``, or a LiteLLM name such as ``openai/gpt-4.1-mini``.
        api_base: Address of the provider, where it is not its usual one.
        timeout: Seconds per call.
        price: Dollars per million tokens in and out; None for the known price.
    """

    name: str
    api_base: str | None = None
    timeout: float = 120.0
    price: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """What all models of a process share, however many there are.

    Attributes:
        log: Request cache and record of what was paid.
        limits: Calls in flight, waiting, trying again, dollars.
        prefixes: How much of what is sent was sent before.
    """

    log: CallLog
    limits: Limits
    prefixes: Prefixes


_lock = threading.RLock()
_models: dict[tuple[Connection | None, ModelSpec], LM] = {}
_connection: Connection | None = None
_here: ContextVar[Connection | None] = ContextVar("connection", default=None)


def connect(connection: Connection) -> None:
    """Let all models made from now on in this process share a connection.

    Whoever made it closes its log, after the last call.
    """
    global _connection  # noqa: PLW0603 - a process has one connection, as it has one network
    with _lock:
        _connection = connection
        _models.clear()


@contextmanager
def using(connection: Connection) -> Iterator[None]:
    """While entered, models made by this thread share a connection that others may not know of."""
    token = _here.set(connection)
    try:
        yield
    finally:
        _here.reset(token)


def forget(connection: Connection) -> None:
    """Drop the models of a connection that is used no more."""
    with _lock:
        for key in [key for key in _models if key[0] is connection]:
            del _models[key]


def make_lm(spec: ModelSpec) -> LM:
    """The model of a spec, one per process and connection.

    A process without a connection, such as a worker, gets one of its own: with a log that ends with
    the process, and with default limits.
    """
    with _lock:
        connection = None if spec.name == "offline" else _own_connection()
        found = _models.get((connection, spec))
        if found is None:
            found = _models[connection, spec] = _make(spec, connection)
        return found


def _own_connection() -> Connection:
    """That of this thread, else that of the process, made now if it has none."""
    here = _here.get() or _connection
    if here is None:
        from evolve.lm.calls import CallLog
        from evolve.lm.limits import Limits
        from evolve.lm.prefix import Prefixes

        here = Connection(CallLog(), Limits(), Prefixes())
        connect(here)
    return here


def _make(spec: ModelSpec, connection: Connection | None) -> LM:
    if connection is None:
        return OfflineLM()
    # Imported for real models only: the offline run never pays for it.
    from evolve.lm.client import LiteLLMClient

    return LiteLLMClient(spec, connection)
