"""What all tests share: where the data for tests lies."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with published users and runs; tests that need it are skipped without it."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("MNEMOTUNE_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no data for tests at {folder}: set MNEMOTUNE_DATA to the folder that has it")
    return folder
