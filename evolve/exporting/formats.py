"""The formats of exports, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from evolve.exporting.account import SIGN, Export
from evolve.exporting.origin import Origin
from evolve.exporting.to_amemgym import to_amemgym
from evolve.exporting.to_dspy import to_dspy
from evolve.exporting.to_langmem import to_langmem
from evolve.exporting.to_mem0 import to_mem0
from evolve.exporting.to_openai import OPENING, to_openai
from evolve.exporting.to_yaml import to_yaml
from policies.policy import Policy

FORMATS: Mapping[str, Callable[[Policy, Origin], Export]] = {
    "yaml": to_yaml,
    "mem0": to_mem0,
    "langmem": to_langmem,
    "dspy": to_dspy,
    "amemgym": to_amemgym,
    "openai": to_openai,
}
"""What ``--format`` takes, to what makes the file; each raises ``ExportError`` where it cannot."""

_TOPS: Mapping[str, str] = {"yaml": f"# {SIGN}", "openai": OPENING}
_KEYS: Mapping[str, str] = {
    "mem0": "config",
    "langmem": "manager",
    "dspy": "metadata",
    "amemgym": "type",
}
"""Of formats in JSON, a key that every file has and that no other format has."""


def is_export(text: str, format_name: str) -> bool:
    """Whether a text is what a policy was exported as before, in this format."""
    if format_name in _TOPS:
        return text.startswith(_TOPS[format_name])
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"mnemotune", _KEYS[format_name]} <= content.keys()
