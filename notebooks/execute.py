"""Runs the notebooks on the newest run and writes them with their outputs: ``make notebooks``.

They go to ``runs/notebooks`` or the folder that is named: the outputs beside the sources are of the
project's own runs. A notebook's source is its ``.py`` file; its ``.ipynb`` file is made of it here,
or by jupytext in an editor, which keeps the two in step.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

HERE = Path(__file__).parent
NAMES = ("write_failure_curves", "lineage", "settings", "compare_runs")
SECONDS = 600  # for one cell
_METADATA = {
    "jupytext": {"formats": "ipynb,py:percent"},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
}


def source_of(name: str) -> NotebookNode:
    """A notebook as its ``.py`` file has it, without outputs."""
    notebook = jupytext.read(HERE / f"{name}.py")
    notebook.metadata = NotebookNode(_METADATA)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{name}-{number}"  # else drawn anew each time
        cell.metadata = NotebookNode()
    return notebook


def executed(name: str, folder: Path) -> NotebookNode:
    """A notebook with its outputs.

    Args:
        name: Of the notebook.
        folder: Where its kernel is started.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell failed.
    """
    notebook = source_of(name)
    with TemporaryDirectory() as sockets:  # rather than ports
        config = Config()
        config.KernelManager.transport = "ipc"
        config.KernelManager.ip = f"{sockets}/kernel"
        client = NotebookClient(
            notebook,
            config=config,
            timeout=SECONDS,
            startup_timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
        )
        client.execute()
    notebook.metadata = NotebookNode(_METADATA)  # without the version of Python
    return notebook


def main(folder: Path) -> None:
    """Execute all notebooks and write them to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        path = folder / f"{name}.ipynb"
        nbformat.write(executed(name, HERE), path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "runs" / "notebooks")
