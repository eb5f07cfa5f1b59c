"""Guards run folders: nothing that a command writes by ``-o`` goes among the files of a run."""

from __future__ import annotations

import os
from pathlib import Path

from evolve.journal import FILE
from policies.errors import RunFolderError


def check_outside(path: Path, allowed: Path | None = None) -> None:
    """Check that a path, its links followed, lies in no run folder, at any depth.

    Args:
        path: Where a command would write.
        allowed: The one file of a run folder that it may write all the same.

    Raises:
        RunFolderError: It lies in one, or is no path.
    """
    try:
        place = Path(os.path.realpath(path))
    except ValueError as error:
        raise RunFolderError(
            f"-o names a file, but {str(path)!r} cannot be one ({error}); name another."
        ) from error
    if allowed is not None and place == Path(os.path.realpath(allowed.parent)) / allowed.name:
        return
    for folder in place.parents:
        if os.path.isfile(folder / FILE):  # a name that is too long is no file, and no error
            raise RunFolderError(
                f"A run folder holds what its run wrote, but {path} is inside {folder}; name a "
                "place outside of it by -o."
            )
