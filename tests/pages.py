"""Reads the documentation for its tests: blocks, commands, code in prose, tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results.md"
DOCS = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "evolve" / "gym" / "data" / "README.md",
    *([RESULTS] if RESULTS.is_file() else []),
)
README, DESIGN = ROOT / "README.md", ROOT / "docs" / "design.md"
CLUSTER = ROOT / "docs" / "cluster.md"
EVOLVE = ROOT / "docs" / "guide" / "evolve.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
REAL_MODELS = ROOT / "docs" / "guide" / "real-models.md"


@dataclass(frozen=True)
class Fence:
    """A fenced block: where it begins, its language, its lines and the comment above it."""

    path: Path
    number: int
    language: str
    lines: tuple[str, ...]
    comment: str

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands in it; a block without a language may hold some, too."""
        if self.language == "console":
            return tuple(line[2:] for line in self.lines if line.startswith("$ "))
        if self.language == "sh":
            return tuple(line for line in self.lines if line and not line.startswith("#"))
        starts = ("python -m ", "make ") if not self.language else ()
        return tuple(line for line in self.lines if line.startswith(starts or ("\0",)))


def fences_of(path: Path) -> list[Fence]:
    """The fenced blocks of a file, in order."""
    found: list[Fence] = []
    opened: tuple[int, str, str] | None = None
    inside: list[str] = []
    before = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if opened is None and line.startswith("```"):
            opened, inside = (number, line[3:].strip(), before), []
        elif opened is not None and line == "```":
            found.append(Fence(path, opened[0], opened[1], tuple(inside), opened[2]))
            opened = None
        elif opened is not None:
            inside.append(line)
        before = line
    assert opened is None, f"{path}: the block of line {opened} has no end"
    return found


def prose_of(path: Path) -> str:
    """A file without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def code_in(path: Path) -> list[str]:
    """What stands in backticks in a file's prose."""
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose_of(path))]


FENCES = [fence for path in DOCS for fence in fences_of(path)]
COMMANDS = [command for fence in FENCES for command in fence.commands]


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def code(cell: str) -> str:
    """What stands first in backticks in a cell."""
    found = re.search(r"`([^`]+)`", cell)
    assert found, cell
    return found[1]


def table_after(path: Path, start: str) -> list[list[str]]:
    """The rows of the table whose heading begins so."""
    lines = path.read_text(encoding="utf-8").splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith(start)]
    rows = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows
