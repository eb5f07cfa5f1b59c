"""The page of results: sections are replaced one by one, and every benchmark has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import all as everything
from benchmarks.all import BENCHMARKS, replaced


def test_every_benchmark_is_run() -> None:
    commands = {
        path.stem
        for path in (everything.ROOT / "benchmarks").glob("*.py")
        if "options_of = parser(" in path.read_text()
    }
    assert commands == set(BENCHMARKS)


def test_a_section_is_replaced_where_it_stands() -> None:
    one, last = BENCHMARKS[0], BENCHMARKS[-1]
    page = replaced("", last, f"## {last}\n\nearlier\n")
    page = replaced(page, one, f"## {one}\n\nfirst\n\n## not a benchmark\n")
    page = replaced(page, last, f"## {last}\n\nnew\n")
    assert page.startswith("# Results of the benchmarks\n")
    assert page.index(f"## {one}") < page.index(f"## {last}")
    assert "first" in page
    assert "earlier" not in page
    assert page.endswith("\n\nnew\n")
    assert replaced(page, last, f"## {last}\n\nnew\n") == page


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: dict[str, int]) -> int:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for name in BENCHMARKS:
        (folder / f"{name}.py").write_text(
            f'"""Measures {name}."""\nimport sys\n'
            f"open(sys.argv[-1], 'w').write('- holds: ' + ' '.join(sys.argv[1:-2]))\n"
            f"sys.exit({status.get(name, 0)})\n"
        )
    monkeypatch.setattr(everything, "ROOT", tmp_path)
    monkeypatch.setattr(everything, "RESULTS", folder / "results.md")
    return everything.main([])


def test_everything_is_run_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path, monkeypatch, {}) == 0
    page = (tmp_path / "benchmarks" / "results.md").read_text()
    for name in BENCHMARKS:
        assert f"## {name}\n\nMeasures {name}.\n\n`python -m benchmarks.{name}`, " in page
    assert page.count("- holds:") == len(BENCHMARKS)


def test_a_failed_claim_fails_the_command_after_all_have_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, monkeypatch, {BENCHMARKS[0]: 1}) == 1
    assert f"claims that fail: {BENCHMARKS[0]}\n" in capsys.readouterr().out
    assert (tmp_path / "benchmarks" / "results.md").read_text().count("\n## ") == len(BENCHMARKS)


def test_a_quick_run_writes_nothing_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, monkeypatch, {})
    page = tmp_path / "benchmarks" / "results.md"
    page.unlink()
    assert everything.main(["--quick", "--only", "gate_power"]) == 0
    assert not page.exists()
    assert everything.main(["--quick", "--only", "gate_power", "--out", str(page)]) == 0
    assert "- holds: --quick" in page.read_text()
    assert "`python -m benchmarks.gate_power --quick`" in page.read_text()
