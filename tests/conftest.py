"""What all tests share: how properties are searched, an event loop, where published data lies."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: machines differ; no randomness: a run that passed passes again.
settings.register_profile("mnemotune", deadline=None, derandomize=True)
settings.load_profile("mnemotune")


@pytest.fixture(scope="session", autouse=True)
def event_loop_of_the_main_thread() -> Iterator[None]:
    """Makes and closes what LiteLLM asks for when it logs a call, and would be left unclosed.

    LiteLLM takes the thread's current loop, which asyncio makes on demand; whatever sets another
    one later, as a notebook's client does, leaves the first to the garbage collector.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


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
