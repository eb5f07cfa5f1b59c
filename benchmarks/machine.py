"""What else the machine was doing while something was measured, where it tells that (Linux)."""

from __future__ import annotations

import os
from pathlib import Path

DISTURBED = 0.2  # share of the cores from which other work excuses a time that is too long


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def busy() -> float | None:
    """Seconds that the cores of this process were busy since the machine started, idle left out."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
    except OSError:
        return None
    total = 0
    for line in lines:
        name, *ticks = line.split()
        if name[:3] == "cpu" and name[3:] and int(name[3:]) in os.sched_getaffinity(0):
            user, nice, system, _idle, _waiting, *interrupts = map(int, ticks[:8])
            total += user + nice + system + sum(interrupts)
    return total / os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float | None:
    """CPU seconds of a process that runs; None where that is not known."""
    try:
        # The name in brackets may hold anything; the times are the 12th and 13th field behind it.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def others(began: float | None, ended: float | None, own: float, seconds: float) -> float | None:
    """Share of the cores that other work took meanwhile; None where that is not known.

    Args:
        began: ``busy`` at the start.
        ended: ``busy`` at the end.
        own: CPU seconds of what was measured.
        seconds: Wall time.
    """
    if began is None or ended is None:
        return None
    return max(0.0, (ended - began - own) / seconds / cores())
