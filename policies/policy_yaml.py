"""YAML as policy files use it: one mapping, no key twice, no aliases; prompts as blocks."""

from __future__ import annotations

import io
from collections.abc import Mapping

import yaml

from policies.errors import PolicyFileError

_REWRITTEN_BREAKS = frozenset("\r\x85\u2028\u2029")
"""Line breaks that YAML turns into others unless they are escaped in double quotes."""


def parse(text: str) -> dict[object, object]:
    """Read one YAML mapping of plain values.

    Raises:
        PolicyFileError: Broken YAML, an empty file, another document than a mapping, a key that
            stands twice, or an alias.
    """
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise PolicyFileError("a policy file must hold a policy, and it is empty; write one")
        if not isinstance(node, yaml.MappingNode):
            raise PolicyFileError(
                "a policy file must be a mapping (key: value), not"
                f" {'a list' if isinstance(node, yaml.SequenceNode) else 'one value'}; start it"
                " with schema: 1"
            )
        _check_node(node, set())
        document: dict[object, object] = loader.construct_document(node)
    except yaml.YAMLError as error:
        raise PolicyFileError(f"it is no YAML: {_where(error)}; mend it there") from error
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        # What PyYAML lets escape for dates such as 2024-99-99, odd !!tags and very deep nesting.
        raise PolicyFileError(
            f"it holds a value that cannot be read ({type(error).__name__}); put it in quotes"
        ) from error
    return document


def dump(document: Mapping[str, object]) -> str:
    """Write a policy document: texts as block scalars, settings and lineage in one line each."""
    root = yaml.SafeDumper(io.StringIO(), sort_keys=False).represent_data(dict(document))
    for key, value in root.value:
        _style(value, block=key.value == "texts", one_line=key.value in {"settings", "lineage"})
    written: str = yaml.serialize(root, Dumper=yaml.SafeDumper, allow_unicode=True, width=10_000)
    return written


def _style(node: yaml.Node, block: bool, one_line: bool) -> None:
    """Choose how a node and what it holds are written; PyYAML overrides what would lose text."""
    if isinstance(node, yaml.ScalarNode):
        if _REWRITTEN_BREAKS & set(node.value):
            node.style = '"'
        elif block:
            node.style = "|"
    elif isinstance(node, yaml.MappingNode):
        node.flow_style = one_line or not node.value
        for key, value in node.value:
            _style(key, False, one_line)
            _style(value, block, one_line)
    elif isinstance(node, yaml.SequenceNode):
        node.flow_style = one_line or not node.value
        for item in node.value:
            _style(item, False, one_line)


def _check_node(node: yaml.Node, seen: set[int]) -> None:
    """Refuse keys that stand twice, and aliases, which would also allow endless nesting."""
    if id(node) in seen:
        raise PolicyFileError(
            f"line {node.start_mark.line + 1} is used again by an alias (*name), which policy files"
            " do not have; write it out"
        )
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check_node(item, seen)
    elif isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    raise PolicyFileError(
                        f"key {key.value} must stand once, and stands again in line"
                        f" {key.start_mark.line + 1}; remove one"
                    )
                keys.add(key.value)
            _check_node(key, seen)
            _check_node(value, seen)


def _where(error: yaml.YAMLError) -> str:
    """Line and problem of a YAML error, in one line."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}, {error.problem}"
    return " ".join(str(error).split())
