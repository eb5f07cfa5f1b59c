"""Makes models by name: what names one can be handed to other processes, a model itself cannot."""

from __future__ import annotations

import threading
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
_models: dict[ModelSpec, LM] = {}
_connection: Connection | None = None


def connect(connection: Connection) -> None:
    """Let all models made from now on in this process share a connection.

    Whoever made it closes its log, after the last call.
    """
    global _connection  # noqa: PLW0603 - a process has one connection, as it has one network
    with _lock:
        _connection = connection
        _models.clear()


def make_lm(spec: ModelSpec) -> LM:
    """The model of a spec, one per process and connection.

    A process without a connection, such as a worker, gets one of its own: with a log that ends with
    the process, and with default limits.
    """
    with _lock:
        found = _models.get(spec)
        if found is None:
            found = _models[spec] = _make(spec)
        return found


def _make(spec: ModelSpec) -> LM:
    if spec.name == "offline":
        return OfflineLM()
    # Imported for real models only: the offline run never pays for them.
    from evolve.lm.calls import CallLog
    from evolve.lm.client import LiteLLMClient
    from evolve.lm.limits import Limits
    from evolve.lm.prefix import Prefixes

    if _connection is None:
        connect(Connection(CallLog(), Limits(), Prefixes()))
    assert _connection is not None
    return LiteLLMClient(spec, _connection)
