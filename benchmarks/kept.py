"""Results that are kept as soon as they are there, so that a stop costs little; runs side by side.

Results are JSON lines in ``.benchmarks/``, in a file named by a digest of the sources, the lock
file and the Python version: change any, and everything is run again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Generic, TypeVar

from evolve.codec import from_data, to_data

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".benchmarks"

Spec = TypeVar("Spec")
Result = TypeVar("Result")


class Kept(Generic[Spec, Result]):
    """Results known so far, and the file that keeps them.

    Args:
        path: The file; its folder is made where it is not there, hidden from git.
        kinds: Frozen records: what names a run, and what it found.
        fresh: Ignore and drop what the file holds.
    """

    def __init__(
        self, path: Path, kinds: tuple[type[Spec], type[Result]], *, fresh: bool = False
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        self._path = path
        self._kinds = kinds
        if fresh:
            path.unlink(missing_ok=True)
        self._known = self._read() if path.is_file() else {}

    def __contains__(self, spec: Spec) -> bool:
        """Whether a run's result is known."""
        return spec in self._known

    def __getitem__(self, spec: Spec) -> Result:
        """The result of a run that is known."""
        return self._known[spec]

    def items(self) -> list[tuple[Spec, Result]]:
        """All that is known."""
        return list(self._known.items())

    def add(self, spec: Spec, result: Result) -> None:
        """Keep a result."""
        self._known[spec] = result
        line = json.dumps({"spec": to_data(spec), "result": to_data(result)})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _read(self) -> dict[Spec, Result]:
        text = self._path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]  # a line that a kill has torn is run again
        if whole != text:
            self._path.write_text(whole, encoding="utf-8")
        rows = [json.loads(line) for line in whole.splitlines()]
        named, found = self._kinds
        return {from_data(named, row["spec"]): from_data(found, row["result"]) for row in rows}


def add_cache_options(parser: argparse.ArgumentParser) -> None:
    """The options that say where results are kept and whether they are used."""
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help="of known results")
    parser.add_argument(
        "--fresh", action="store_true", help="forget what is known of these sources"
    )


def sources_digest(*others: Path) -> str:
    """16 hex digits that change with whatever a run's result could depend on.

    Args:
        *others: Files beside the packages and the lock file.
    """
    digest = hashlib.sha256(".".join(map(str, sys.version_info[:2])).encode())
    files = [ROOT / "uv.lock", *others]
    for package in ("policies", "feedback", "evolve"):
        files += sorted(p for p in (ROOT / package).rglob("*") if p.suffix in (".py", ".yaml"))
    for file in files:
        digest.update(str(file.relative_to(ROOT)).encode())
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()[:16]


def side_by_side(
    tasks: Mapping[Spec, Callable[[], Result]], jobs: int
) -> Iterator[tuple[Spec, Result]]:
    """Results as they come.

    Args:
        tasks: What names a run, to the run; picklable where there are several jobs.
        jobs: Runs at once, each in one process: cheaper than one run in several, since what a
            process has read it need not read again.
    """
    if jobs == 1:
        for spec, task in tasks.items():
            yield spec, task()
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        futures = {pool.submit(task): spec for spec, task in tasks.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)
