"""A run that probes states jointly, or found that it must not, replays as any other does."""

import json
import os
import random
import signal

import pytest

from evolve.probing import BOUND

BUDGET = 50


def killed_midway(command, journal, wait_until, options, draw):
    """Start the run and kill it once its journal is of some length."""
    process = command.start(*options)
    at = draw.randrange(100_000, 400_000)
    wait_until(
        lambda: process.poll() is not None or (journal.exists() and journal.stat().st_size >= at)
    )
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


# A model without memory says the same however it is asked, one with the whole history does not.
@pytest.mark.parametrize(("policy", "mode"), [("none", "joint"), ("native", "single")])
def test_it_ends_with_the_same_bytes_with_several_jobs_and_after_a_kill(
    command, small, same_run, wait_until, policy, mode
):
    options = [*small.options[:2], "--budget", BUDGET, "--policy", policy, "--name", "run"]
    done = command.run(*options, "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")
    folder, one = command.place / "runs" / "run", command.place / "one"
    found = json.loads((folder / "summary.json").read_text())["probes"][policy]
    assert found["mode"] == mode
    assert found["share"] == found["differing"] / found["compared"]
    assert (found["share"] <= BOUND) == (mode == "joint")
    assert done.stdout.count(f"probes of {policy}: ") == 1
    folder.rename(one)
    again = [*options, "--jobs", 2]
    killed = killed_midway(command, folder / "journal.jsonl", wait_until, again, random.Random(1))
    done = command.run("--resume", folder, "--jobs", 2)
    assert (killed, done.returncode, done.stderr) == (True, 0, "")
    same_run(folder, one)
    reserved = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    modes = [e["data"].get("probes", ["single"]) for e in reserved if e["kind"] == "reserve"]
    assert modes[0].count("both") == 3
    assert any("joint" in one for one in modes) == (mode == "joint")
    assert modes[-1] == ["single"]  # the report
