"""What a provider's failure comes to, told without any key.

What a failure comes to:

| of the provider | here |
|---|---|
| key refused or missing, no permission, no credit, unknown model or provider | `ModelError` |
| nobody listens at the address | `PassingError`; `ModelError` if nobody ever did |
| prompt too long, content refused | `PolicyFailureError` |
| another bad request, where none with these parameters has been taken yet | `ModelError` |
| another bad request after that: it must be what this prompt says | `PolicyFailureError` |
| rate limit, timeout, 5xx, a cut connection, a body that is no reply | `PassingError` |

LiteLLM names kinds of failures and gives them a status, but not always the right one: a connection
that was refused and a reply that is no JSON both pass for a 500. So the exceptions that it began
with are looked at, too.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite, nan

from evolve.lm.limits import PassingError
from evolve.lm.models import ModelSpec
from evolve.lm.redact import plain, redact
from policies.errors import MnemotuneError, ModelError, PolicyFailureError

_READ, _QUOTED = 2000, 200  # characters of what a provider says
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|maximum context|too many (?:input )?tokens|"
    r"(?:prompt|input|messages?) (?:is|are) too long|reduce the length",
    re.I,
)
_TOO_LARGE = re.compile(r"request[ _]too[ _]large", re.I)  # told as a rate limit, but never passes
_REFUSED = re.compile(
    r"content[ _](?:policy|filter|management policy)|safety system|usage polic|moderation|flagged",
    re.I,
)
_NO_KEY = re.compile(r"missing credentials|missing .{0,40}api key|api_key client option", re.I)
_NO_CREDIT = re.compile(r"insufficient_quota|exceeded your current quota|credit balance", re.I)
# Of a bad request, which may quote the prompt, only what begins so.
_SAYS_NO_CREDIT = re.compile(r'(?:^|"message": ?")(?:your )?credit balance is too low', re.I)
_NO_PROVIDER = "LLM Provider NOT provided"
_FOREWORD = re.compile(r"^(?:(?:litellm\.\w+|\w*Error|\w*Exception)(?: -|:) *)+")
_NOT_REACHED = {"ConnectError", "ConnectTimeout"}
_MAY_PASS = {408, 409, 425, 429}
_MESSAGE = re.compile(r'"message": ?"((?:[^"\\]|\\.)+)"')  # where a whole body is quoted


@dataclass(frozen=True, slots=True)
class _Fault:
    """A failure, and what all rules look at."""

    error: Exception
    spec: ModelSpec
    known: bool  # whether a request with the same parameters has been taken before
    kind: str
    status: int | None
    text: str  # may hold keys
    said: str  # does not

    @property
    def at(self) -> str:
        base = self.spec.api_base
        return f" at {redact(base)}" if base else ""


def translate(error: Exception, spec: ModelSpec, *, known: bool) -> MnemotuneError:
    """What a failure comes to; see the table above.

    Args:
        error: As LiteLLM raised it.
        spec: Of the model.
        known: Whether a request with the same parameters has been taken before.
    """
    status = getattr(error, "status_code", None)
    fault = _Fault(
        error,
        spec,
        known,
        type(error).__name__,
        status if isinstance(status, int) else None,
        f"{getattr(error, 'message', error)} {_body(error)}",
        # Of a key that is refused, providers quote more than anyone foresees.
        "" if status in {401, 403} else _quote(error),
    )
    # The order matters: what is said tells more than the status does.
    for rule in (_of_the_account, _on_the_way, _of_the_prompt, _of_our_own):
        found = rule(fault)
        if found is not None:
            return found
    what = "no reply in time" if fault.kind == "Timeout" else "the provider failed"
    return PassingError(f"{what}{fault.said}", retry_after=_retry_after(error))


def moved(spec: ModelSpec, location: str) -> ModelError:
    """What it comes to that the address of a model redirects where a call cannot follow."""
    to = f" to {redact(plain(location[:_QUOTED]))}" if location else ""
    base = spec.api_base
    return ModelError(
        f"A model is asked at its own address, but {redact(base) if base else 'that'} of "
        f"{spec.name} redirects{to}; give the right one by --api-base."
    )


def _of_the_account(fault: _Fault) -> MnemotuneError | None:
    """No credit, or no key that is taken."""
    if fault.status == 402 or _without_credit(fault):
        return ModelError(
            f"Calls are paid by the account of the key, but that of {fault.spec.name} has nothing "
            f"left{fault.said}; add credit, then resume the run."
        )
    if fault.status == 401 or _NO_KEY.search(fault.text):
        return _no_key(fault)
    return None


def _without_credit(fault: _Fault) -> bool:
    if fault.status not in {400, 422}:
        return _NO_CREDIT.search(fault.text) is not None
    begins = _FOREWORD.sub("", " ".join(fault.text[:_READ].split()))
    return _SAYS_NO_CREDIT.search(begins) is not None


def _no_key(fault: _Fault) -> ModelError:
    provider = getattr(fault.error, "llm_provider", None) or fault.spec.name.partition("/")[0]
    variable = re.sub(r"\W", "_", str(provider)).upper() + "_API_KEY"
    return ModelError(
        f"A model is asked with the key that the environment or .env holds, but {fault.spec.name}"
        f"{fault.at} did not take it; set the key of that provider, as a rule "
        f"{variable} (any word for a server that wants none){_one_address(fault)}."
    )


def _one_address(fault: _Fault) -> str:
    """What may have been overlooked where a model was asked at ``--api-base``."""
    if not fault.at:
        return ""
    return (
        "; --api-base serves every model of the first one's provider: a server of your own is kept "
        "apart by another of LiteLLM's prefixes, such as hosted_vllm/NAME"
    )


def _on_the_way(fault: _Fault) -> MnemotuneError | None:
    """Nobody was reached, or what came back cannot be read, or comes too often."""
    causes = list(_causes(fault.error))
    if any(type(cause).__name__ in _NOT_REACHED for cause in causes):
        base = fault.spec.api_base
        where = redact(base) if base else "the provider's own address"
        return PassingError(
            f"nobody listens at {where}",
            unreachable=f"A model is asked at its address, but nobody listens at {where} for "
            f"{fault.spec.name}; mend --api-base, start its server, or look at the network.",
        )
    # LiteLLM gives such a failure any status, even 422; but HTTP has no part in how it began.
    unreadable = any(
        type(cause) is Exception or isinstance(cause, json.JSONDecodeError) for cause in causes
    )
    by_http = any(type(cause).__name__ == "HTTPStatusError" for cause in causes)
    if unreadable or (fault.status == 422 and not by_http):
        return PassingError("the provider's reply cannot be read")
    limited = fault.kind == "RateLimitError" or fault.status == 429
    if limited and not _TOO_LARGE.search(fault.text):
        after = _retry_after(fault.error)
        return PassingError(
            f"the provider limits calls{fault.said}", limited=True, retry_after=after
        )
    return None


def _of_the_prompt(fault: _Fault) -> MnemotuneError | None:
    """Too long, or its content is refused."""
    if fault.status is None or not 400 <= fault.status < 500 or fault.status == 404:
        return None
    long = fault.kind == "ContextWindowExceededError" or fault.status == 413
    if long or _TOO_LARGE.search(fault.text) or _TOO_LONG.search(fault.text):
        return PolicyFailureError(f"the prompt is too long for the model{fault.said}")
    if fault.kind == "ContentPolicyViolationError" or _REFUSED.search(fault.text):
        return PolicyFailureError(f"the provider refused the content{fault.said}")
    return None


def _of_our_own(fault: _Fault) -> MnemotuneError | None:
    """A request that is not taken, whoever sends it."""
    if fault.status is None or not 400 <= fault.status < 500 or fault.status in _MAY_PASS:
        return None
    if fault.status == 403:
        return _no_key(fault)
    unnamed = _NO_PROVIDER in fault.text
    if fault.status == 404 or unnamed:
        return ModelError(
            "A model is named as LiteLLM names it, provider/model, and must be there, but "
            f"{fault.spec.name} is unknown{fault.at}{'' if unnamed else fault.said}; mend --model, "
            f"or --api-base{_one_address(fault)}."
        )
    if fault.known:
        return PolicyFailureError(f"the provider takes no such prompt{fault.said}")
    return ModelError(
        f"A model must take requests as Mnemotune makes them, but {fault.spec.name}{fault.at} "
        f"refused one ({fault.status}){fault.said}; name another model, or mend its server."
    )


def _quote(error: Exception) -> str:
    """The beginning of what a provider says, without keys and in one line."""
    text = str(getattr(error, "message", None) or error)[:_READ]
    text = _FOREWORD.sub("", redact(plain(text)))
    inner = _MESSAGE.search(text)
    text = inner[1] if inner else text
    if not text or text == "None":
        return ""
    return f" (it says: {text[:_QUOTED].rstrip('. ')}{'…' if len(text) > _QUOTED else ''})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


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
    except (ValueError, TypeError, OverflowError):
        return None


def _float(text: str | None) -> float | None:
    try:
        seconds = float(text) if text else nan
    except ValueError:
        return None
    return max(seconds, 0.0) if isfinite(seconds) else None
