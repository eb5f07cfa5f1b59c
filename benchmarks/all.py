"""Runs every benchmark in a process of its own and writes what they say to results.md.

``python -m benchmarks.all`` replaces each benchmark's section of ``benchmarks/results.md`` as soon
as it has run; ``--only NAME`` runs some of them and leaves the other sections as they are. With
``--quick`` all run at small sizes and nothing is written unless ``--out`` names a file. It exits
with 1 if any claim fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from ast import get_docstring, parse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from policies.files import write_whole

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results.md"
BENCHMARKS = (
    "gate_power",
    "offline_speed",
    "client_speed",
    "estimate",
    "run_sample",
    "offline_table",
    "off_policy",
    "amemgym_periods",
    "locomo",
    "sample_gain",
)
_INTRODUCTION = """# Results of the benchmarks

`python -m benchmarks.all` (or `make benchmarks`) repeats everything on this page and replaces its
sections; `python -m benchmarks.NAME` repeats one of them. Each prints the claims that its numbers
support and ends with status 1 if one of them fails. Brackets hold 95 % intervals. Only times,
speeds and memory depend on the machine.
"""


def section(name: str, arguments: Sequence[str]) -> tuple[str, bool]:
    """Run one benchmark; its section of the page, and whether all of its claims hold.

    Raises:
        RuntimeError: It ended without a report.
    """
    source = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    first = (get_docstring(parse(source)) or "").split("\n")[0]
    command = ["-m", f"benchmarks.{name}", *arguments]
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        done = subprocess.run(
            [sys.executable, *command, "--markdown", str(page)], cwd=ROOT, check=False
        )
        if not page.is_file():
            raise RuntimeError(f"benchmarks.{name} ended with status {done.returncode}, no report")
        text = page.read_text(encoding="utf-8")
    took = f"{time.monotonic() - began:.0f} s on {_machine()}"
    head = f"## {name}\n\n{first}\n\n`python {' '.join(command)}`, {took}"
    return f"{head}\n\n{text.strip()}\n", done.returncode == 0


def _machine() -> str:
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{able} cores, Python {platform.python_version()}, {platform.system()}"


def replaced(page: str, name: str, text: str) -> str:
    """A page with one section replaced, or added in its place among the others."""
    sections = _sections(page)
    sections[name] = text
    parts = [sections[each] for each in BENCHMARKS if each in sections]
    return "\n".join([_INTRODUCTION, *parts])


def _sections(page: str) -> dict[str, str]:
    """Name to section, its heading included."""
    found = {}
    for part in ("\n" + page).split("\n## ")[1:]:
        name = part.split("\n", 1)[0].strip()
        if name in BENCHMARKS:
            found[name] = f"## {part.strip()}\n"
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; 1 if a claim fails."""
    parser = argparse.ArgumentParser(description="Run every benchmark and write results.md.")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, metavar="NAME")
    parser.add_argument("--out", type=Path, metavar="FILE", help="page (benchmarks/results.md)")
    options = parser.parse_args(arguments)
    out = options.out or (None if options.quick else RESULTS)
    failed = []
    for name in options.only:
        print(f"\n=== {name}", flush=True)
        text, holds = section(name, ["--quick"] if options.quick else [])
        if not holds:
            failed.append(name)
        if out is not None:
            page = out.read_text(encoding="utf-8") if out.is_file() else ""
            write_whole(out, replaced(page, name, text))
    print(f"\nclaims that fail: {', '.join(failed) if failed else 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
