"""Reads what a provider answered: LiteLLM's response, or the body itself where LiteLLM cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolve.lm.base import Request, count_tokens
from evolve.lm.limits import PassingError
from evolve.lm.redact import plain, redact, redact_reply
from policies.errors import PolicyFailureError

MOST_TOKENS = 10_000_000  # of a call; a count beyond it is none
_TIMES, _BESIDE = 100, 10_000  # a count beyond so many times the estimate and so much is none
_VERSION = 200  # characters


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


def read_response(response: Any, request: Request, model: str, seconds: float) -> Reply:
    """LiteLLM's response as a reply.

    Args:
        response: As LiteLLM returned it.
        request: That was sent.
        model: Its name; only keys that it may be sent with are taken out of its words.
        seconds: That it took.

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
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    counts = (
        getattr(usage, "prompt_tokens", None),
        getattr(usage, "completion_tokens", None),
        getattr(details, "cached_tokens", None),
    )
    versions = (response.model, getattr(response, "system_fingerprint", None))
    said = redact_reply(storable(_joined(text)), model)
    return _made(said, versions, counts, request, seconds)


def read_body(body: bytes, request: Request, model: str, seconds: float) -> Reply | None:
    """A body in OpenAI's form as a reply, None if there is no text in it.

    Content may be a list of parts, whose texts are joined; counts may be anything.
    """
    try:
        data = json.loads(body)
        choice = data["choices"][0]
        text = _joined(choice["message"]["content"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if not text:
        return None
    usage = data.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    counts = usage.get("prompt_tokens"), usage.get("completion_tokens"), None
    versions = data.get("model"), data.get("system_fingerprint")
    said = redact_reply(storable(text), model)
    return _made(said, versions, counts, request, seconds)


def estimate(request: Request) -> int:
    """Tokens of a request: its bytes / 4."""
    return sum(count_tokens(storable(message.content)) for message in request.messages)


def storable(text: str) -> str:
    """The text without halves of characters, which have no UTF-8."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _made(
    text: str,
    versions: Sequence[object],
    counts: tuple[object, object, object],
    request: Request,
    seconds: float,
) -> Reply:
    guesses = estimate(request), count_tokens(text)
    prompt = _count(counts[0], guesses[0])
    completion = _count(counts[1], max(guesses[1], request.max_tokens))
    # LiteLLM counts 0 where a provider does not count.
    none = not prompt, not completion and bool(text)
    prompt = guesses[0] if none[0] else prompt
    completion = guesses[1] if none[1] else completion
    cached = min(_count(counts[2], guesses[0]), prompt)
    version = " ".join(each[:_VERSION] for each in versions if isinstance(each, str))[:_VERSION]
    return Reply(text, redact(plain(version)), prompt, completion, cached, any(none), seconds)


def _count(value: object, guess: int) -> int:
    """A provider's count; 0 for one that cannot be."""
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 <= value <= min(_TIMES * guess + _BESIDE, MOST_TOKENS) else 0


def _joined(content: object) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
