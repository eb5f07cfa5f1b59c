"""Dependencies point one way: policies <- feedback <- evolve."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "policies": {"feedback", "evolve", "tests", "benchmarks"},
    "feedback": {"evolve", "tests", "benchmarks"},
    "evolve": {"tests", "benchmarks"},
}


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Line and first name of every import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield node.lineno, module.split(".")[0]
            case ast.ImportFrom():
                yield node.lineno, "."  # relative imports hide where they point
            case ast.Call(func=ast.Name("__import__") | ast.Attribute(attr="import_module")):
                argument = node.args[0] if node.args else None
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value.split(".")[0]


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_one_way(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files
        for line, name in imported(path.read_text(encoding="utf-8"))
        if name in FORBIDDEN[package] | {"."}
    ]
    assert wrong == []


def test_the_package_itself_imports_next_to_nothing() -> None:
    """Every command imports it first, and none must find its own module there already."""
    ours = "policies", "feedback", "evolve", "numpy", "rich", "yaml"
    code = f"import sys, evolve; print(*(m for m in sys.modules if m.split('.')[0] in {ours}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.split()) == ["evolve", "evolve.api"]


def test_the_check_sees_every_kind_of_import() -> None:
    source = """
import os, evolve.loop as x
def f():
    from feedback.records import Entry
    if True:
        from . import y
    import importlib
    importlib.import_module("policies.policy")
    __import__("benchmarks")
"""
    names = [name for _, name in imported(source)]
    assert sorted(names) == sorted(
        ["os", "evolve", "feedback", ".", "importlib", "policies", "benchmarks"]
    )
