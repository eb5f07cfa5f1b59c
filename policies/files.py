"""Reading a file that is one, and writing one so that a reader never sees half of it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
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
    path = Path(os.path.realpath(path))
    check_regular(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines(pieces)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
