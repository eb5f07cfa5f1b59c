"""Runs the sample as a user does and measures it: wall time, memory per process, network.

``python -m benchmarks.run_sample`` starts ``python -m evolve.loop --budget 300`` in a fresh process
on two cores. Memory is the high-water mark of every process, read from /proc while the run lasts
and from what the system says of ended children. A late end is not judged while other work takes
more than a fifth of the cores. The network is taken away where the system lets us (``unshare``),
and every Python process reports any attempt to use it. There is no smaller size: ``--quick``
changes nothing. It exits with 1 if a claim fails.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import machine
from benchmarks.report import Claim, Report, close, parser
from evolve.tables import Table

ROOT = Path(__file__).parents[1]
BUDGET, CORES = 300, 2
SECONDS, MEGABYTES = 60, 600
_PAUSE = 0.05  # seconds between looks at the processes

SENTINEL = '''"""Reports what a process does with the network to a file, and forbids it."""

import os
import sys

_LOG = {log!r}


def _note(line):
    log = os.open(_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, (line + "\\n").encode())
    os.close(log)


def _watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        target = arguments[1]  # of sockets in the file system it is a path
        used = isinstance(target, tuple)
    else:
        used = event.startswith(("socket.getaddrinfo", "socket.gethostby"))
    if used:
        _note(f"network {{os.getpid()}} {{event}} {{arguments[1:]}}")
        raise OSError("the network is off")


_note(f"watched {{os.getpid()}}")
sys.addaudithook(_watch)
'''


@dataclass(frozen=True, slots=True)
class Run:
    """What was seen of one command.

    Attributes:
        status: Its exit status.
        last: Its last lines of output.
        seconds: Wall time.
        cpu: CPU time of all of its processes, in seconds.
        others: Share of the cores that other work took meanwhile; None where that is not known.
        peaks: Process id to (what it is, high-water mark of its memory in MB).
        largest: The largest high-water mark of any ended process, in MB.
        watched: Ids of the Python processes that reported to be watched.
        attempts: What was tried with the network.
        isolated: Whether the run had no network at all.
    """

    status: int
    last: str
    seconds: float
    cpu: float
    others: float | None
    peaks: dict[int, tuple[str, float]]
    largest: float
    watched: frozenset[int]
    attempts: tuple[str, ...]
    isolated: bool


def isolation() -> list[str]:
    """The prefix of a command that takes the network away, or nothing where that is not allowed."""
    prefix = ["unshare", "--map-root-user", "--net", "--"]
    if shutil.which(prefix[0]) is None:
        return []
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return prefix if tried.returncode == 0 else []


def observe(command: Sequence[str], scratch: Path) -> Run:
    """Run a Python command to its end and watch it.

    Args:
        command: What follows ``python``.
        scratch: An empty folder.
    """
    log = scratch / "network.log"
    log.touch()
    (scratch / "sitecustomize.py").write_text(SENTINEL.format(log=str(log)), encoding="utf-8")
    prefix = isolation()
    peaks: dict[int, tuple[str, float]] = {}
    out = scratch / "out.txt"
    before, busy, began = _children_cpu(), machine.busy(), time.monotonic()
    with out.open("w") as target:
        process = subprocess.Popen(
            [*prefix, sys.executable, *command],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(scratch)},
            stdout=target,
            stderr=subprocess.STDOUT,
        )
        while process.poll() is None:
            peaks |= _peaks(process.pid)
            time.sleep(_PAUSE)
    seconds, cpu = time.monotonic() - began, _children_cpu() - before
    lines = log.read_text(encoding="utf-8").splitlines()
    return Run(
        status=process.returncode,
        last="\n".join(out.read_text(encoding="utf-8").splitlines()[-2:]),
        seconds=seconds,
        cpu=cpu,
        others=machine.others(busy, machine.busy(), cpu, seconds),
        peaks={pid: peak for pid, peak in peaks.items() if peak[0]},
        largest=_in_megabytes(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss),
        watched=frozenset(int(x.split()[1]) for x in lines if x.startswith("watched")),
        attempts=tuple(x for x in lines if x.startswith("network")),
        isolated=bool(prefix),
    )


def _children_cpu() -> float:
    """CPU seconds of all children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peaks(root: int) -> dict[int, tuple[str, float]]:
    """Memory of a process and all below it; empty where there is no /proc."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name in brackets may hold anything; the parent is the second field behind it.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
    found = {}
    for pid in parents:
        above = pid
        while above != root and above in parents:
            above = parents[above]
        if above == root and (peak := _peak(pid)) is not None:
            found[pid] = peak
    return found


def _peak(pid: int) -> tuple[str, float] | None:
    """What a process is, and the most memory that it has had in MB; None once it has ended."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    marks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return (_kind(command), int(marks[0]) / 2**10) if marks else None


def _kind(command: str) -> str:
    """What a Python process of a run does; empty for other processes."""
    if "resource_tracker" in command:
        return "tracker"
    if "popen_loky" in command:
        return "worker"
    return "main" if "evolve.loop" in command else ""


def _in_megabytes(maximum: int) -> float:
    return maximum / (2**20 if sys.platform == "darwin" else 2**10)


def claims_of(run: Run) -> list[Claim]:
    """What must hold of the run."""
    peak = max([run.largest, *(size for _, size in run.peaks.values())])
    unwatched = sorted(set(run.peaks) - run.watched)
    in_time: bool | None = run.seconds <= SECONDS
    if not in_time and run.others is not None and run.others > machine.DISTURBED:
        in_time = None
    others = "" if run.others is None else f"; other work took {run.others:.2f} of the cores"
    return [
        Claim(f"the run ends well: status {run.status}", run.status == 0),
        Claim(
            f"it ends within {SECONDS} s on {CORES} cores: {run.seconds:.0f} s, {run.cpu:.0f} s of"
            f" CPU{others}",
            in_time,
        ),
        Claim(f"no process exceeds {MEGABYTES} MB: {peak:.0f} MB", peak <= MEGABYTES),
        Claim(
            f"nothing touches the network: {len(run.attempts)} attempts of {len(run.watched)}"
            f" processes{''.join(f'; {attempt}' for attempt in run.attempts[:3])}",
            not run.attempts,
        ),
        Claim(f"every process was watched: {len(unwatched)} were not", not unwatched),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Measure the sample run of the loop as a command.")
    options = options_of.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with TemporaryDirectory() as name:
        scratch = Path(name)
        line = f"-m evolve.loop --budget {BUDGET} --jobs {CORES} --name run --runs"
        run = observe([*line.split(), str(scratch / "runs")], scratch)
    rows = tuple((kind, f"{size:.0f}") for kind, size in sorted(run.peaks.values()))
    table = Table(f"Sample run, budget {BUDGET}: {run.seconds:.1f} s", ("process", "peak MB"), rows)
    network = "taken away" if run.isolated else "there (no unshare here), but watched"
    notes = (f"Network: {network}.", f"It said: {run.last.splitlines()[0] if run.last else ''}")
    return close(Report((table,), tuple(claims_of(run)), notes), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
