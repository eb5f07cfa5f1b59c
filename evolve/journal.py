"""The run's journal: append-only JSON lines, the only truth; a resumed run replays it.

The loop is a function of its options. Whatever it does that costs or decides passes through
``Journal.once``: on the first pass the thing is done and appended, on a resumed pass the journaled
event is handed back instead. So a run that was killed at any instruction repeats nothing that was
journaled and ends with the same bytes as one that was not. Events hold no times and no order of
arrival.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from policies.errors import RunFolderError

SCHEMA = 1
FILE = "journal.jsonl"
_READABLE = (1,)


class Journal:
    """The journal of one run folder, locked for this process while it is open.

    Args:
        folder: The run folder; created if absent.
        header: What identifies the run: options, environment, seed policy. A journal that is
            already there must have the same.

    Raises:
        RunFolderError: The folder is in use, its journal is of another schema or of another run
            (naming what differs), or a line other than the last cannot be read.
    """

    def __init__(self, folder: Path, header: Mapping[str, Any]) -> None:
        self._path = folder / FILE
        folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise RunFolderError(
                f"A run folder serves one process at a time, but {folder} is in use by another; "
                "wait for it to end, or name another folder."
            ) from error
        try:
            self._past = _read_lines(self._path, self._file)
            self._cursor = 0
            self._check_header(header)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        """The journal itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file and free the folder."""
        os.close(self._file)

    @property
    def replaying(self) -> bool:
        """Whether the next event is already journaled."""
        return self._cursor < len(self._past)

    def once(self, kind: str, key: str, make: Callable[[], Any]) -> Any:
        """The payload of an event: journaled before, or made now and appended.

        Args:
            kind: What sort of event.
            key: Which one; together with ``kind`` it must be the next event of the journal.
            make: Makes the payload, JSON-able; what it raises is not journaled.

        Raises:
            RunFolderError: The next journaled event is another one, or the disk refused the line.
        """
        if self.replaying:
            event = _parse(self._past[self._cursor], self._path, self._cursor + 1)
            if (event.get("kind"), event.get("key")) != (kind, key):
                raise RunFolderError(
                    f"A resumed run must come to the events of its journal in their order, but "
                    f"line {self._cursor + 1} of {self._path} is {event.get('kind')} "
                    f"{event.get('key')} and not {kind} {key}; resume with the version of "
                    "Mnemotune that began the run, or begin a new one."
                )
            self._past[self._cursor] = b""  # freed: a long run's past need not stay in memory
            self._cursor += 1
            return event["data"]
        data = make()
        self._append({"kind": kind, "key": key, "data": data})
        return data

    def next_is(self, kind: str, key: str) -> bool:
        """Whether the next journaled event is this one, without taking it."""
        if not self.replaying:
            return False
        start = json.dumps({"kind": kind, "key": key}, ensure_ascii=False)[:-1].encode()
        return self._past[self._cursor].startswith(start)

    def _append(self, event: Mapping[str, Any]) -> None:
        line = json.dumps(event, ensure_ascii=False).encode() + b"\n"
        try:
            done = 0
            while done < len(line):
                done += os.write(self._file, line[done:])
            os.fsync(self._file)
        except OSError as error:
            raise RunFolderError(
                f"Every step must reach the journal, but writing to {self._path} failed "
                f"({error.strerror}); free space or mend the disk, then resume the run."
            ) from error
        self._past.append(b"")
        self._cursor += 1

    def _check_header(self, header: Mapping[str, Any]) -> None:
        wanted = json.loads(json.dumps({"schema": SCHEMA, **header}))
        if not self._past:
            self._append({"kind": "run", "key": "header", "data": wanted})
            return
        event = _parse(self._past[0], self._path, 1)
        found = event.get("data") if event.get("kind") == "run" else None
        if not isinstance(found, dict):
            raise RunFolderError(
                f"A journal begins with the run's header, but {self._path} does not; name the "
                "folder of a run, or begin a new one."
            )
        if found.get("schema") not in _READABLE:
            raise RunFolderError(
                f"This version reads run folders of schema {SCHEMA}, but {self._path} has schema "
                f"{found.get('schema')!r}; resume it with the version that began it."
            )
        different = [
            f"{name} was {found.get(name)!r} and is now {wanted.get(name)!r}"
            for name in sorted({*found, *wanted})
            if found.get(name) != wanted.get(name)
        ]
        if different:
            raise RunFolderError(
                f"A run is resumed with what it began with, but in {self._path.parent} "
                f"{'; '.join(different)}: give the same again, or begin a new run."
            )
        self._cursor = 1


def read_header(folder: Path) -> dict[str, Any]:
    """The header of a run folder's journal.

    Raises:
        RunFolderError: There is no journal, or its header cannot be read.
    """
    path = folder / FILE
    try:
        with path.open("rb") as file:
            event = _parse(file.readline(), path, 1)
    except OSError as error:
        raise RunFolderError(
            f"A run is resumed from its folder's {FILE}, but {path} cannot be read "
            f"({error.strerror}); name the folder that an earlier run printed."
        ) from error
    data = event.get("data")
    if event.get("kind") != "run" or not isinstance(data, dict):
        raise RunFolderError(
            f"A journal begins with the run's header, but {path} does not; name the folder of a "
            "run, or begin a new one."
        )
    return data


def _read_lines(path: Path, file: int) -> list[bytes]:
    """Whole lines; a torn last one, which a kill left, is cut off."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.ftruncate(file, whole)
        os.fsync(file)
    return content[:whole].split(b"\n")[:-1]


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise RunFolderError(
            f"Every line of a journal is one JSON object, but line {number} of {path} cannot be "
            "read; restore the file from a copy, or begin a new run."
        )
    return event
