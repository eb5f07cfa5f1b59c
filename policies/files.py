"""Reading a file that is one, and writing one so that a reader never sees half of it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def read_whole(path: Path) -> bytes:
    """The bytes of a regular file; a pipe or a device could make a reader wait for ever.

    Raises:
        OSError: It cannot be read, or is no regular file.
    """
    check_regular(path)
    return path.read_bytes()


def check_regular(path: Path) -> None:
    """Check that what stands at a path, if anything, is a file or a folder.

    Raises:
        OSError: It is a device, a pipe or a socket.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file", str(path))


def check_writable(path: Path) -> None:
    """Check, leaving no trace, that ``write_whole`` could write a file now.

    Raises:
        OSError: It could not, and why.
    """
    path = _place(path)
    missing, folder = [_temporary(path).name], path.parent
    while not os.path.lexists(folder):
        missing.append(folder.name)
        folder = folder.parent
    for name in missing:  # the file system says whether it takes such a name
        with suppress(FileNotFoundError):
            os.lstat(folder / name)
    with tempfile.TemporaryFile(dir=folder):
        pass


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text to a temporary neighbour and rename it; missing folders are made.

    Raises:
        OSError: As ``write_pieces``.
    """
    write_pieces(path, (text.encode("utf-8"),))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """The same for bytes that are made piece by piece.

    A symbolic link is followed: what it points to is replaced, and it stays.

    Raises:
        OSError: The file cannot be written; what stood there before is untouched.
    """
    path = _place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    try:
        with temporary.open("wb") as file:
            file.writelines(pieces)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _place(path: Path) -> Path:
    """Where a file is written, links followed.

    Raises:
        OSError: No file can stand there.
    """
    place = Path(os.path.realpath(path))
    check_regular(place)
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(place))
    return place


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")
