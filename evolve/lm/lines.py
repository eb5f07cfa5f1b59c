"""A file of JSON lines with a key each, which several processes of one machine append to.

Every line is written at once and under a lock, so none is ever mixed with another. What a kill left
of a line is cut off by whoever comes next.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from policies.errors import RunFolderError

_CHUNK = 1 << 20  # bytes read at a time


class Lines:
    """The file, open until it is closed; not for several threads at once.

    Args:
        path: Of the file, created if absent with its folder; None for one without a name, which
            ends with the process.

    Raises:
        RunFolderError: It cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file = _open(path)
        self._where: dict[bytes, tuple[int, int]] = {}  # key to offset and length
        self._read_to = 0
        with self.locked():
            pass  # what a kill left of a last line is cut off before anything is read

    def close(self) -> None:
        """Close the file; twice is fine."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def get(self, key: str) -> bytes | None:
        """The first line of a key, None if there is none."""
        place = self._where.get(bytes.fromhex(key))
        return None if place is None else os.pread(self._file, place[1], place[0])

    def place(self, key: str, offset: int, length: int) -> bool:
        """Remember where the line of a key is; False if one came before it."""
        mine = offset, length
        return self._where.setdefault(bytes.fromhex(key), mine) == mine

    def append(self, key: str, line: bytes) -> None:
        """Write a line, which ends with a newline.

        The lock must be held and all be read, so that a key is known to be new when it is written.

        Raises:
            RunFolderError: The disk refused it.
        """
        end = self._read_to
        try:
            if os.write(self._file, line) < len(line):
                os.ftruncate(self._file, end)
                raise OSError(0, "no space left")
        except OSError as error:
            raise RunFolderError(
                f"Every paid call must reach the log, but writing to {self._path} failed "
                f"({error.strerror}); free space or mend the disk, then resume the run."
            ) from error
        self.place(key, end, len(line))
        self._read_to = end + len(line)

    def read_new(self) -> Iterator[tuple[int, bytes]]:
        """Offset and content of each whole line that others have appended since the last time."""
        size = os.fstat(self._file).st_size
        rest = b""
        at = self._read_to  # of what is read next; rest lies before it
        while at < size:
            chunk = os.pread(self._file, min(_CHUNK, size - at), at)
            if not chunk:
                break
            at += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                offset, self._read_to = self._read_to, self._read_to + len(line) + 1
                yield offset, line

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep all others from writing; what a kill left of a last line is cut off."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            self._cut_torn_line()
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _cut_torn_line(self) -> None:
        end = size = os.fstat(self._file).st_size
        while end and os.pread(self._file, 1, end - 1) != b"\n":
            start = max(0, end - _CHUNK)
            end = start + os.pread(self._file, end - start, start).rfind(b"\n") + 1
        if end < size:
            os.ftruncate(self._file, end)


def _open(path: Path | None) -> int:
    if path is None:
        file, name = tempfile.mkstemp()
        os.unlink(name)
        return file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise RunFolderError(
            f"Paid calls are kept in a file of their own, but {path} cannot be written "
            f"({error.strerror}); mend the folder, or name another."
        ) from error
