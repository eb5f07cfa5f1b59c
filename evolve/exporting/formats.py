"""The formats of exports, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evolve.exporting.account import Export
from evolve.exporting.origin import Origin
from evolve.exporting.to_amemgym import to_amemgym
from evolve.exporting.to_dspy import to_dspy
from evolve.exporting.to_langmem import to_langmem
from evolve.exporting.to_mem0 import to_mem0
from evolve.exporting.to_openai import to_openai
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
