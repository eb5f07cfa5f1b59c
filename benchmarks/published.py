"""What is known of the published system, and where its data lies on this machine."""

from __future__ import annotations

import os
from pathlib import Path

FIGURES = {
    "awe, top_k 10": "0.275",
    "awe, top_k 30": "0.291",
    "awe, top_k 50": "0.251",
}
"""Memory scores of AMemGym by setting, those that are known; of the rest only the sign is."""

SIGNS = (
    "write_every 2 above 4 above 8",
    "local_window 8 above 4 above 0",
    "top_k 30 above 10 and 50",
    "native fades faster over periods than agentic writing",
    "awe above native and rag, which are above awi",
    "none at zero",
)


def find_data(given: Path | None) -> Path | None:
    """The folder with ``amemgym-v1/data.json``: named, or MNEMOTUNE_DATA, or beside the project.

    None where it is not there.
    """
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = given or Path(os.environ.get("MNEMOTUNE_DATA", beside))
    return folder if (folder / "amemgym-v1" / "data.json").is_file() else None


def absent(given: Path | None) -> str:
    """Why something that needs the data was skipped."""
    return (
        f"Skipped: the published data is not in {given or 'the usual places'}; give --data a"
        " folder, or set MNEMOTUNE_DATA to one, that holds amemgym-v1/data.json."
    )
