"""Every architecture evolves, by either split, and its run replays to the same bytes."""

import pytest

from policies.policy import ARCHITECTURES, EXTRA


@pytest.mark.extra
@pytest.mark.parametrize("holdout", ["users", "periods"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_it_runs_and_replays(command, small, architecture, holdout):
    if architecture in EXTRA:
        pytest.importorskip(architecture, reason=f"{architecture} is not installed")
    options = [*small.options, "--budget", 60, "--policy", architecture, "--holdout", holdout]
    done = command.run(*options, "--name", "run", "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2].startswith("test users: ")
    folder = command.place / "runs" / "run"
    files = {path: path.read_bytes() for path in folder.rglob("*.[jy]*")}
    done = command.run("--resume", folder, "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path: path.read_bytes() for path in folder.rglob("*.[jy]*")} == files
