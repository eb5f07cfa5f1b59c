"""Which variables of the environment hold keys, and whether a key has the form of one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from policies.errors import ModelError

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$|PASSWORD$|API_?KEY$|"
    r"ACCESS_KEY_ID$|BEARER_TOKEN",
    re.IGNORECASE,
)
_SENT_NAME = re.compile(r"API_?KEY$|(?:^|_)TOKEN$|BEARER_TOKEN|ACCESS_KEY(?:_ID)?$", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"://[^/\s@:]*:([^/\s@]+)@")  # a password, most often of a proxy
_SHORTEST = 4  # of a value that is secret; local servers are given keys such as "x"
_LIKE_A_KEY = 16  # characters, of which so many are different:
_DIFFERENT = 8
# Where the keys of a provider do not begin with its name.
_ALSO = {"bedrock": "AWS", "sagemaker": "AWS", "gemini": "GOOGLE", "vertex": "GOOGLE"}
_ALSO |= {"huggingface": "HF"}


def secrets(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Values of variables whose names are those of keys, and passwords, the longest first."""
    found = set()
    for name, value in environ.items():
        if _SECRET_NAME.search(name):
            found.add(value.strip())
        elif "@" in value:
            found.update(_IN_ADDRESS.findall(value))
    found = {value for value in found if len(value) >= _SHORTEST}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def own_keys(model: str, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Keys that calls of a model may be sent with, and that look like no word: longest first."""
    found = {value for _, value in _of_provider(model, environ) if _random(value)}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def check_key(model: str, environ: Mapping[str, str] = os.environ) -> None:
    """Check that the keys of a model's provider can be sent at all.

    Raises:
        ModelError: One holds what no key does.
    """
    for name, value in _of_provider(model, environ):
        wrong = not value.isascii() or not value.isprintable()
        if _SENT_NAME.search(name) and (wrong or value != value.strip()):
            raise ModelError(
                "A key is one line of ASCII letters, digits and signs, but that in "
                f"{name}, for {model}, has a blank at an end, a line break or another sign; set it "
                "again without that."
            )


def _of_provider(model: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    provider = model.partition("/")[0]
    begins = {provider, *(word for word in re.split(r"[\W_]", provider) if len(word) >= 4)}
    begins |= {also for known, also in _ALSO.items() if known in provider}
    starts = tuple(re.sub(r"\W", "_", each).upper() for each in begins if each)
    for name in environ:
        if name.startswith(starts) and _SECRET_NAME.search(name):
            yield name, environ[name]


def _random(value: str) -> bool:
    return (
        len(value) >= _LIKE_A_KEY
        and len(set(value)) >= _DIFFERENT
        and not any(each.isspace() for each in value)
        and any(each.isdigit() for each in value)
        and any(each.isalpha() for each in value)
    )
