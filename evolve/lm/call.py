"""One paid call, and its line in a log."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

_MOST = 10**12  # tokens, dollars or seconds; more is a damaged line


@dataclass(frozen=True, slots=True)
class Call:
    """One line of the log.

    Attributes:
        key: Of the request (``request_key``).
        role: That asked first.
        model: Name of the model.
        version: What the provider itself calls the model; empty if it does not say.
        text: The reply.
        prompt_tokens: As the provider counts.
        completion_tokens: As the provider counts.
        provider_cached_tokens: Prompt tokens that the provider's own cache served.
        dollars: None for an unpriced model.
        seconds: Of the try that succeeded, waiting before it not included.
        estimated: Whether tokens are bytes / 4, since the provider did not count.
        shared: Whether the reply was found in the shared folder and cost this run nothing.
    """

    key: str
    role: str
    model: str
    version: str
    text: str
    prompt_tokens: int
    completion_tokens: int
    provider_cached_tokens: int
    dollars: float | None
    seconds: float
    estimated: bool = False
    shared: bool = False

    @property
    def lost(self) -> bool:
        """Whether it only counts what was paid: nothing can be had from it."""
        return not self.text and not self.seconds and not self.shared


def encode(call: Call) -> bytes:
    """The line of a call, with its newline."""
    data: dict[str, Any] = asdict(call)
    for name in ("estimated", "shared"):
        if not data[name]:
            del data[name]
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode(line: bytes | None) -> Call | None:
    """The call of a line, None for a line that is damaged."""
    try:
        call = None if line is None else Call(**json.loads(line))
        return call if call is not None and _sound(call) else None
    except (ValueError, TypeError, RecursionError):
        return None


def _sound(call: Call) -> bool:
    texts = call.key, call.role, call.model, call.version, call.text
    counts = call.prompt_tokens, call.completion_tokens, call.provider_cached_tokens
    amounts = call.seconds, 0.0 if call.dollars is None else call.dollars
    return (
        all(isinstance(text, str) for text in texts)
        and bool(bytes.fromhex(call.key))
        and all(type(count) is int and 0 <= count <= _MOST for count in counts)
        and all(type(amount) in {int, float} and 0 <= amount <= _MOST for amount in amounts)
        and all(isfinite(amount) for amount in amounts)
        and isinstance(call.estimated, bool)
        and isinstance(call.shared, bool)
    )
