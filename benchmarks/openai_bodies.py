"""What a server answers, as OpenAI's chat API writes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.openai_faults import Fault
from evolve.lm.base import Completion

NO_STATUS = 0  # of a request that gets no answer


@dataclass(frozen=True, slots=True)
class Response:
    """An answer.

    Attributes:
        status: Of HTTP; ``NO_STATUS`` for none at all.
        body: JSON as a rule.
        headers: Beside those that every answer has.
        fault: What went wrong with it on purpose.
    """

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    fault: Fault | None = None


def completion(done: Completion, body: Mapping[str, Any], *, usage: bool, hidden: bool) -> bytes:
    """A completion as the API writes it, cut at the tokens that the body allows.

    Args:
        done: What the model said.
        body: Of the request.
        usage: Whether to say what was used.
        hidden: Whether a filter takes the content away.
    """
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    text, used, reason = done.text, done.completion_tokens, "stop"
    if isinstance(most, int) and used > most:
        text, used, reason = text.encode()[: 4 * most].decode(errors="ignore"), most, "length"
    if hidden:
        text, used, reason = "", 0, "content_filter"
    message = {"role": "assistant", "content": None if hidden else text}
    content: dict[str, Any] = {
        "id": "chatcmpl-" + hashlib.sha256(text.encode()).hexdigest()[:24],
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{body.get('model')}-2025-04-14",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }
    if usage:
        content["usage"] = {
            "prompt_tokens": done.prompt_tokens,
            "completion_tokens": used,
            "total_tokens": done.prompt_tokens + used,
        }
    return json.dumps(content, ensure_ascii=False).encode()


def error(status: int, message: str, kind: str, code: str | None) -> Response:
    """An error as the API writes it."""
    said = {"message": message, "type": kind, "param": None, "code": code}
    return Response(status, json.dumps({"error": said}).encode())
