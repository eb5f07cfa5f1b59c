"""Removes a run folder for ever."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from evolve.journal import FILE, locked
from policies.errors import RunFolderError


@dataclass(frozen=True, slots=True)
class Content:
    """What a folder holds.

    Attributes:
        files: How many.
        size: Of all of them, in bytes.
    """

    files: int
    size: int

    @classmethod
    def of(cls, folder: Path) -> Content:
        """What a run folder holds."""
        files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
        sizes = [path.lstat().st_size for path in files]
        return cls(len(sizes), sum(sizes))


def purge(folder: Path) -> None:
    """Remove a run folder with all that is in it.

    Raises:
        RunFolderError: It is in use, is a link, holds other runs, or cannot be removed.
    """
    if folder.is_symlink():
        raise RunFolderError(
            f"A run is removed where it lies, but {folder} is a link to {folder.resolve()}; name "
            "that."
        )
    inner = [path for path in folder.rglob(FILE) if path.parent != folder]
    if inner:
        raise RunFolderError(
            f"A run folder that is removed holds one run, but {folder} holds another in "
            f"{inner[0].parent}; move that away."
        )
    with locked(folder):
        try:
            shutil.rmtree(folder.resolve())
        except OSError as error:
            raise RunFolderError(
                f"A run is removed with all of its files, but {error.filename} cannot be "
                f"({error.strerror}); mend the folder, and purge it again."
            ) from error
