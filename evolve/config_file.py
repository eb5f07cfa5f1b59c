"""Options from a YAML file: any long option of a command, by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from evolve.arguments import Argument
from policies.errors import ConfigError
from policies.shown import short

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
    return checked_options(_mapping(path), path, arguments)


def checked_options(
    options: Mapping[object, object], path: str, arguments: Iterable[Argument]
) -> dict[str, Any]:
    """Options by their names in Python, as a command line gives them, wherever they stand.

    Args:
        options: Name to value.
        path: Where they stand, for messages.
        arguments: The options that there may be.

    Raises:
        ConfigError: An option is unknown or named twice, or its value is not of its kind.
    """
    known = {argument.key: argument for argument in arguments}
    found: dict[str, Any] = {}
    for given, value in options.items():
        # Yes is what YAML takes for true.
        name = "yes" if given is True else given if isinstance(given, str) else short(given)
        key = name.replace("-", "_")
        if key not in known:
            raise ConfigError(
                f"Options are named by their long names without the two dashes, but {path} has "
                f"{short(name)}; name one of {', '.join(sorted(a.name for a in known.values()))}."
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
        why = _why(error)
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


def _why(error: Exception) -> str:
    """Why a file could not be read."""
    if isinstance(error, UnicodeError):
        return "it is not text in UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    why = getattr(error, "problem", None) or getattr(error, "reason", None)
    return str(why or str(error).partition(";")[0])[:100]


def _value(path: str, argument: Argument, value: object) -> object:
    """The value as the command line would give it."""
    kind = argument.kind
    if argument.key == "price" and isinstance(value, list):
        with suppress(ValueError):  # too many digits
            if all(isinstance(each, int | float) for each in value):
                return ",".join(map(str, value))
    if isinstance(value, str) and "\0" in value:
        raise ConfigError(
            f"{argument.name} must be text that can be written, but {path} has a sign of number 0 "
            "in it; mend its value."
        )
    if isinstance(value, bool) == (kind is bool):
        if isinstance(value, kind):
            return value
        if isinstance(value, int) and kind in (float, str):  # a budget, or a folder named 2024
            with suppress(ValueError, OverflowError):  # too many digits
                return kind(value)
    raise ConfigError(
        f"{argument.name} must be {_KINDS[kind]}, but {path} has {short(value)}; mend its value."
    )
