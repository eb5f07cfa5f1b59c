"""What all tests share: how properties are searched, and where published data lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: machines differ; no randomness: a run that passed passes again.
settings.register_profile("mnemotune", deadline=None, derandomize=True)
settings.load_profile("mnemotune")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with published data, which is not part of the repository."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("MNEMOTUNE_DATA", beside))
    if not (folder / "amemgym-v1" / "data.json").is_file():
        pytest.skip(
            f"published data not found in {folder}: set MNEMOTUNE_DATA to a folder that holds"
            " amemgym-v1/data.json"
        )
    return folder
