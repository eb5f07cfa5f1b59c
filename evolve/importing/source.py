"""Reads what is to be imported, and tells by its content what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from evolve.importing.amemgym_config import import_amemgym, is_amemgym
from evolve.importing.imported import Imported
from evolve.importing.mem0_config import import_mem0, is_mem0
from evolve.importing.openai_export import import_openai, is_openai
from evolve.importing.prompt import import_prompt
from policies import policy_yaml
from policies.errors import ImportSourceError, PolicyFileError
from policies.files import read_whole

_PROMPTS = frozenset({".txt", ".md", ".prompt"})
_YAML = frozenset({".yaml", ".yml"})
_POLICY = {"schema", "architecture", "texts"}
_MOST_BYTES = 500_000  # as of a policy file


def import_source(path: Path) -> Imported:
    """A policy from a prompt (``.txt``, ``.md``, ``.prompt``) or a configuration in JSON or YAML.

    Raises:
        ImportSourceError: It cannot be read, or is nothing that is known here.
    """
    text, name = _read(path), path.stem
    try:
        if path.suffix.lower() in _PROMPTS:
            return (import_openai if is_openai(text) else import_prompt)(text, name)
        content = _parsed(text, path)
        if is_amemgym(content):
            return import_amemgym(content, name)
        if is_mem0(content):
            return import_mem0(content, name)
        if {"architecture", "texts"} <= content.keys():
            raise ImportSourceError("it is a policy file already; give it to --policy as it is.")
        count = len(content)
        raise ImportSourceError(
            "A configuration is known by its keys, as mem0's or as an agent of AMemGym's, but this "
            f"one has {count or 'no'} other key{'s' * (count != 1)}; give "
            "a prompt in a text file, or write a policy from a seed."
        )
    except ImportSourceError as error:
        raise ImportSourceError(f"{path}: {error}") from error


def other_kind(path: Path) -> str | None:
    """What a YAML file looks like that has nothing of a policy; None where that cannot be said."""
    try:
        content = _parsed(_read(path), path)
    except ImportSourceError:
        return None
    if not content or _POLICY & content.keys():
        return None
    if is_amemgym(content):
        return "an agent configuration of AMemGym"
    return "a configuration of mem0" if is_mem0(content) else "a configuration of something else"


def _read(path: Path) -> str:
    known = _PROMPTS | _YAML | {".json"}
    if path.suffix.lower() not in known:
        raise ImportSourceError(
            f"What is imported is known by its ending, one of {', '.join(sorted(known))}, but is "
            f"{str(path)!r}; rename it."
        )
    try:
        data = read_whole(path)
        if len(data) > _MOST_BYTES:
            raise ImportSourceError(
                f"{path}: a prompt or a configuration has at most {_MOST_BYTES} bytes, and this "
                f"one {len(data)}; give what tells the memory what to do."
            )
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportSourceError(
            f"{path}: a prompt or a configuration must be UTF-8, and byte {error.start} is not; "
            "save it as UTF-8."
        ) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ImportSourceError(
            f"{str(path)!r} is to be imported, but cannot be read ({why}); check the path."
        ) from error


def _parsed(text: str, path: Path) -> Mapping[str, object]:
    """A configuration as a mapping.

    Raises:
        ImportSourceError: It is none.
    """
    try:
        if path.suffix.lower() in _YAML:
            content: object = policy_yaml.parse(text)
        else:
            content = json.loads(text)
    except PolicyFileError as error:
        raise ImportSourceError(
            "a configuration must be a mapping in YAML with plain values, no key twice and no "
            f"alias, but this is none{_line_of(error)}; mend it there."
        ) from error
    except json.JSONDecodeError as error:
        raise ImportSourceError(f"it is no JSON at line {error.lineno}; mend it there.") from error
    except (ValueError, RecursionError) as error:
        raise ImportSourceError(
            "it is no JSON that can be read (a number too long, or nested too deeply); mend it."
        ) from error
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise ImportSourceError(
            "a configuration must be a mapping of names to values; give the whole file."
        )
    return content


def _line_of(error: PolicyFileError) -> str:
    """Where YAML is broken; the rest of what is said of it may quote the file."""
    mark = getattr(error.__cause__, "problem_mark", None)
    if mark is not None:
        return f" at line {mark.line + 1}"
    told = re.search(r"^line (\d+) is used again|in line (\d+); remove one$", str(error))
    return f" at line {told[1] or told[2]}" if told else ""
