"""The notebooks run on any run folder, and what is committed is what their sources say."""

import shutil
from pathlib import Path

import nbformat
import pytest

from evolve.journal import FILE
from notebooks.execute import HERE, NAMES, executed, source_of
from tests.evolve.results.conftest import lived, made, searched  # noqa: F401  # fixtures

ROOT = Path(__file__).parents[2]
MOST_BYTES = 500_000  # of a notebook with its outputs


def outputs(notebook) -> list:
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def told(notebook) -> str:
    """All that a notebook printed or showed as text."""
    found = [output.get("text", "") for output in outputs(notebook)]
    found += [output.get("data", {}).get("text/html", "") for output in outputs(notebook)]
    return "\n".join(found)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """Where kernels start: a folder ``notebooks`` beside ``runs``, as in the project."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "runs").mkdir()
    return tmp_path / "notebooks"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_committed_was_made_of_the_source(name):
    path = HERE / f"{name}.ipynb"
    kept, source = nbformat.read(path, as_version=4), source_of(name)
    for side in (kept, source):
        nbformat.validate(side)
    assert [(cell.cell_type, cell.source) for cell in kept.cells] == [
        (cell.cell_type, cell.source) for cell in source.cells
    ]
    assert kept.metadata == source.metadata
    assert path.stat().st_size < MOST_BYTES
    kinds = [output.output_type for output in outputs(kept)]
    assert "error" not in kinds
    assert any("image/png" in output.get("data", {}) for output in outputs(kept))
    assert str(ROOT) not in path.read_text()
    assert 'RUN = "latest"' in kept.cells[1].source


@pytest.mark.extra
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_on_a_finished_run(name, searched, place):  # noqa: F811
    shutil.copytree(searched, place.parent / "runs" / "chance")
    notebook = executed(name, place)
    assert "chance" in told(notebook)
    assert {output.output_type for output in outputs(notebook)} <= {
        "stream",
        "display_data",
        "execute_result",
    }
    assert [o.text for o in outputs(notebook) if o.get("name") == "stderr"] == []


@pytest.mark.extra
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_on_a_run_that_has_just_begun(name, searched, place):  # noqa: F811
    folder = shutil.copytree(searched, place.parent / "runs" / "chance")
    journal = (folder / FILE).read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(journal) if b'"kind": "proposal"' in line)
    (folder / FILE).write_bytes(b"".join(journal[:first]))
    (folder / "summary.json").unlink()
    assert "chance" in told(executed(name, place))


@pytest.mark.extra
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_on_lives_of_scope_user(name, lived, place):  # noqa: F811
    shutil.copytree(lived, place.parent / "runs" / "own")
    assert "own" in told(executed(name, place))
