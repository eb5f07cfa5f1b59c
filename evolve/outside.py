"""Guards files from ``-o``: those of a run, those of the package, and whatever else is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from evolve.journal import FILE
from policies.errors import OutputFileError, RunFolderError

_MOST_BYTES = 5_000_000  # more than any export, which is read as a whole
_HOME = Path(os.path.realpath(__file__)).parents[1]
_PACKAGES = tuple(_HOME / name for name in ("policies", "feedback", "evolve"))


def check_outside(path: Path, allowed: Path | None = None) -> None:
    """Check that a path, its links followed, lies in no run folder and not in Mnemotune.

    Args:
        path: Where a command would write.
        allowed: The one file of a run folder that it may write all the same.

    Raises:
        RunFolderError: It lies in a run folder, or is no path.
        OutputFileError: It lies in the package.
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
    for package in _PACKAGES:
        if place.is_relative_to(package):
            raise OutputFileError(
                f"Files of Mnemotune itself, such as seeds, stay as they are, but {path} is inside "
                f"{package}; name a place outside of it by -o."
            )


def replaces(path: Path, is_ours: Callable[[str], bool], what: str) -> bool:
    """Whether writing a file replaces an earlier one of its kind; no other may be replaced.

    Args:
        path: Where a command would write.
        is_ours: Whether a text is such an earlier file.
        what: Such a file in words, with its article.

    Raises:
        RunFolderError: As ``check_outside``.
        OutputFileError: As ``check_outside``; or another file is there.
    """
    check_outside(path)
    if not os.path.isfile(path):
        return False
    if is_ours(_text(path)):
        return True
    raise OutputFileError(
        f"-o names a new file, or {what} to replace, but {str(path)!r} is there and is something "
        "else; give another name."
    )


def _text(path: Path) -> str:
    """What stands in a file; nothing where that cannot be read."""
    try:
        return path.read_text(encoding="utf-8") if path.stat().st_size <= _MOST_BYTES else ""
    except (OSError, ValueError):
        return ""
