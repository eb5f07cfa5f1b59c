"""Neither the package nor a run of the offline model imports a client of real models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.gym.sample import make_users

Run = Callable[..., tuple[subprocess.CompletedProcess[str], bool]]
ROOT = Path(__file__).parents[1]
TRAP = """
import os, pathlib
pathlib.Path(os.environ["TRAP"]).write_text("imported")
raise ImportError("a client of real models is imported")
"""
EVERY_MODULE = """
import evolve, importlib, pkgutil
for module in pkgutil.walk_packages(evolve.__path__, "evolve."):
    importlib.import_module(module.name)
"""


@pytest.fixture
def without_clients(tmp_path: Path) -> Run:
    """Runs Python where importing a client of real models fails and leaves a file behind."""
    for name in ("litellm", "openai"):
        (tmp_path / "traps" / name).mkdir(parents=True)
        (tmp_path / "traps" / name / "__init__.py").write_text(TRAP)
    sprung = tmp_path / "sprung"
    variables = {"PYTHONPATH": f"{tmp_path / 'traps'}{os.pathsep}{ROOT}", "TRAP": str(sprung)}

    def run(*arguments: str) -> tuple[subprocess.CompletedProcess[str], bool]:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        return done, sprung.exists()

    return run


@pytest.mark.parametrize("code", ["import evolve", EVERY_MODULE], ids=["evolve", "every module"])
def test_importing_evolve_imports_no_client(without_clients: Run, code: str) -> None:
    done, sprung = without_clients("-c", code)
    assert (done.returncode, sprung) == (0, False), done.stderr


def test_an_offline_run_imports_no_client_in_any_of_its_processes(
    without_clients: Run, tmp_path: Path
) -> None:
    users = json.loads(json.dumps(make_users(3, 12, explicitness=1.0)))
    for user in users:
        user |= {"periods": user["periods"][:4], "qas": user["qas"][:4]}
    (tmp_path / "users.json").write_text(json.dumps(users))
    line = "-m evolve.loop --env users.json --budget 42 --jobs 2 --runs runs --name run"
    done, sprung = without_clients(*line.split())
    assert (done.returncode, done.stderr, sprung) == (0, "", False)
    assert (tmp_path / "runs" / "run" / "best.yaml").exists()
    journal = (tmp_path / "runs" / "run" / "journal.jsonl").read_text()
    assert '"kind":"proposal"' in journal.replace(" ", "")  # the rewriter was asked, too


def test_the_trap_is_seen(without_clients: Run) -> None:
    done, sprung = without_clients("-c", "from evolve.lm.provider import price_table as t; t()")
    assert (done.returncode, sprung) == (1, True)
    assert "a client of real models is imported" in done.stderr
