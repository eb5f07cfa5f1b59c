"""Results that survive a stop, sources that make them worthless, and runs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import mul
from pathlib import Path

import pytest

from benchmarks import kept
from benchmarks.kept import Kept, side_by_side, sources_digest


@dataclass(frozen=True, slots=True)
class Named:
    name: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    spent: float
    score: float | None


@dataclass(frozen=True, slots=True)
class Found:
    curve: tuple[Point, ...]


FOUND = Found((Point(0.0, 0.5), Point(12.5, None)))


def known(path: Path, *, fresh: bool = False) -> Kept[Named, Found]:
    return Kept(path / "cache" / "x.jsonl", (Named, Found), fresh=fresh)


def test_results_survive_and_a_torn_line_is_run_again(tmp_path: Path) -> None:
    results = known(tmp_path)
    specs = [Named("a", seed) for seed in range(3)]
    for spec in specs:
        results.add(spec, FOUND)
    file = tmp_path / "cache" / "x.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    again = known(tmp_path)
    assert [spec in again for spec in specs] == [True, True, False]
    assert again[specs[0]] == FOUND
    again.add(specs[2], FOUND)
    assert known(tmp_path).items() == [(spec, FOUND) for spec in specs]
    assert known(tmp_path, fresh=True).items() == []
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"


def test_other_sources_are_other_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "2"), ("b.yaml", "2"), ("b.md", "2")):
        path = tmp_path / "evolve" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        digests.add(sources_digest(tmp_path / "own.py"))
    assert len(digests) == 4
    (tmp_path / "own.py").write_text("3")
    assert sources_digest(tmp_path / "own.py") not in digests


@pytest.mark.parametrize("jobs", [1, 2])
def test_tasks_run_side_by_side(jobs: int) -> None:
    tasks = {n: partial(mul, n, n) for n in range(4)}
    assert dict(side_by_side(tasks, jobs)) == {0: 0, 1: 1, 2: 4, 3: 9}
