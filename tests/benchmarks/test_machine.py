"""The share of the cores that other work takes."""

from __future__ import annotations

import os
import sys
import time

import pytest

from benchmarks import machine


def test_others_are_what_is_left_of_the_cores() -> None:
    cores = machine.cores()
    assert machine.others(10.0, 10.0 + 3 * cores, 2.0 * cores, 4.0) == pytest.approx(0.25)
    assert machine.others(10.0, 11.0, 5.0, 4.0) == 0.0
    assert machine.others(None, 11.0, 5.0, 4.0) is None


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc elsewhere")
def test_work_is_seen() -> None:
    busy, cpu = machine.busy(), machine.cpu_of(os.getpid())
    assert busy is not None
    assert cpu is not None
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    assert (machine.busy() or 0.0) >= busy + 0.2
    assert (machine.cpu_of(os.getpid()) or 0.0) >= cpu + 0.2
    assert machine.cpu_of(2**30) is None
