"""Options from a YAML file: any long option of a command, by its name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evolve.arguments import Argument
from policies.errors import ConfigError

_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def read_config(path: str, arguments: Iterable[Argument]) -> dict[str, Any]:
    """Options by their names in Python, as a command line gives them.

    Args:
        path: A mapping of option to value in YAML; names have dashes or underscores.
        arguments: The options that the command has.

    Raises:
        ConfigError: The file cannot be read or is no such mapping, an option is unknown or named
            twice, or its value is not of its kind.
    """
    known = {argument.key: argument for argument in arguments}
    found: dict[str, Any] = {}
    for given, value in _mapping(path).items():
        name = "yes" if given is True else str(given)  # that is what YAML takes it for
        key = name.replace("-", "_")
        if key not in known:
            raise ConfigError(
                f"A config file holds long options without their two dashes, but {path} has "
                f"{name!r}; name one of {', '.join(sorted(a.name for a in known.values()))}."
            )
        if key in found:
            raise ConfigError(f"An option is named once, but {path} has {name!r} twice; drop one.")
        found[key] = _value(path, known[key], value)
    # A flag that is off is the same as one that is left out.
    return {key: value for key, value in found.items() if value is not False}


def _mapping(path: str) -> dict[object, object]:
    import yaml

    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"--config names a YAML file, but {path} cannot be read ({error.strerror}); name "
            "another, or leave it out."
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        why = getattr(error, "problem", None) or "it is not text in UTF-8"
        raise ConfigError(
            f"--config names a YAML file, but {path} is none ({why}{where}); mend it."
        ) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(
            f"A config file holds one option per line, such as seed: 3, but {path} holds "
            f"{type(content).__name__}; write it so."
        )
    return content


def _value(path: str, argument: Argument, value: object) -> object:
    """The value as the command line would give it."""
    kind = argument.kind
    if argument.key == "price" and isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool) == (kind is bool):
        if isinstance(value, kind):
            return value
        if isinstance(value, int) and kind in (float, str):  # a budget, or a folder named 2024
            return kind(value)
    raise ConfigError(
        f"{argument.name} must be {_KINDS[kind]}, but {path} has {value!r}; mend its value."
    )
