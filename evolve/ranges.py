"""What values options may have: addresses, numbers and prices; options of a record by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from urllib.parse import urlsplit

from policies.errors import ConfigError
from policies.shown import short

SHOWN = 100  # characters of a value that is refused
MOST_PRICE = 1e9  # dollars per million tokens


def check_address(address: str) -> None:
    """Check ``--api-base``.

    Raises:
        ConfigError: It is no address, or holds a name or password, which is not shown.
    """
    try:
        parts = urlsplit(address)
        usable = parts.hostname is not None and parts.port != 0
    except ValueError:  # a port that is no number, or half of a pair of brackets
        parts, usable = urlsplit(""), False
    if "@" in parts.netloc:
        raise ConfigError(
            "--api-base must be an address alone, but has a name or password before its @; leave "
            "those out and give keys by the environment or .env."
        )
    if not usable or not re.fullmatch(r"https?://[!-~]+", address):
        shown = re.sub(r"://[^/]*@", "://…@", address[:SHOWN])
        raise ConfigError(
            "--api-base must be an address such as http://127.0.0.1:8080/v1, but is "
            f"{shown!r}; begin it with http:// or https://, and mend its host and port."
        )


def check_range(option: str, value: int, least: int, most: int | None = None) -> None:
    """Check an option that is a number.

    Raises:
        ConfigError: It is smaller than ``least`` or larger than ``most``.
    """
    named = f"--{option.replace('_', '-')}"
    if value < least:
        raise ConfigError(
            f"{named} must be at least {least}, but is {short(value)}; give a larger number."
        )
    if most is not None and value > most:
        raise ConfigError(
            f"{named} must be at most {most}, but is {short(value)}; give a smaller number."
        )


def parse_price(given: str | list[float] | tuple[float, float]) -> tuple[float, float]:
    """Dollars per million prompt and completion tokens, such as ``0.4,1.6``.

    Raises:
        ConfigError: It is not two numbers of 0 or more.
    """
    pieces = given.split(",") if isinstance(given, str) else given
    try:
        prompt, completion = (float(piece) for piece in pieces)
    except (ValueError, OverflowError):
        prompt = completion = -1.0
    if not all(0 <= price <= MOST_PRICE for price in (prompt, completion)):
        raise ConfigError(
            "--price must be dollars per million tokens read and written, such as 0.4,1.6, but is "
            f"{str(given)[:SHOWN]!r}; give two numbers up to {MOST_PRICE:.0e} and a comma between "
            "them."
        )
    return prompt, completion


def known_fields(record: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the given values, by name, that a dataclass has fields for."""
    return {one.name: given[one.name] for one in fields(record) if one.name in given}
