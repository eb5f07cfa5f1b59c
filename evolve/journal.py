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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evolve.event_lines import event_line, parse_event, to_bytes
from evolve.lm.calls import FILE as CALLS_FILE
from policies.errors import RunFolderError
from policies.files import check_regular

SCHEMA = 2
FILE = "journal.jsonl"
ROLLBACK = "rollback"  # comes from outside after a run's end, so it is not replayed
REDACTED = "redacted"  # in the header: what users said was removed
_READABLE = (2,)  # 1 named one model and knew budgets in rollouts alone
# Events of a run that nothing has come of yet.
_BEGINNINGS = tuple(
    b'{"kind": "%s", ' % kind for kind in (b"run", b"terms", b"introduction", b"reserve")
)
_MOVABLE = {"--api-base"}  # a server may move; what it says is the run's all the same
# Options that name a file, and the digest of it that the header has.
_DIGESTED = {"--env": "the environment", "--policy": "the seed policy"}


class Journal:
    """The journal of one run folder, locked for this process while it is open.

    Args:
        folder: The run folder; created if absent.
        header: What identifies the run: ``options`` by name, and digests of what they point to.
        resume: Whether the journal is there already; its header must then be the same. A run that
            begins takes the place of one that came to nothing: none of its calls was answered.

    Attributes:
        header: As it stands in the journal.
        grown: Whether an event was appended since it was opened.
        rollback: What the last rollback says, ``policy`` and ``scores`` among it; None if none was.

    Raises:
        RunFolderError: The folder cannot be written or is in use, its journal is of another schema
            or of another run (naming what differs), or is there although a run begins, or not
            although one is resumed.
    """

    def __init__(self, folder: Path, header: Mapping[str, Any], *, resume: bool) -> None:
        self._path = folder / FILE
        if resume:
            check_same(read_header(folder), header, folder)
        self._file = _open(folder)
        try:
            _lock(self._file, folder)
            self._past, self.rollback = _apart(_read_lines(self._path, self._file), self._path)
            self._cursor = 0
            self.grown = False
            if self._past and not resume and _is_free(self._past, folder):
                os.ftruncate(self._file, 0)
                self._past = []
            if self._past and not resume:
                raise RunFolderError(
                    f"A new run needs a folder of its own, but {folder} holds a run; go on with it "
                    "by --resume, or give another --name."
                )
            self.header: dict[str, Any] = self.once("run", "header", lambda: _with_schema(header))
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
    def folder(self) -> Path:
        """The run folder."""
        return self._path.parent

    @property
    def replaying(self) -> bool:
        """Whether the next event is already journaled."""
        return self._cursor < len(self._past)

    def once(self, kind: str, key: str, make: Callable[[], Any]) -> Any:
        """The payload of an event as the journal holds it: from before, or made now and appended.

        Args:
            kind: What sort of event.
            key: Which one; together with ``kind`` it must be the next event of the journal.
            make: Makes the payload, JSON-able; what it raises is not journaled.

        Raises:
            RunFolderError: The next journaled event is another one, or the disk refused the line.
        """
        if self.replaying:
            event = parse_event(self._past[self._cursor], self._path, self._cursor + 1)
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
        # Read back, so that a resumed run is handed the same: a list where a tuple was made.
        return self._append(event_line(kind, key, make()))["data"]

    def next_is(self, kind: str, key: str) -> bool:
        """Whether the next journaled event is this one, without taking it."""
        if not self.replaying:
            return False
        start = to_bytes({"kind": kind, "key": key})[:-1]
        return self._past[self._cursor].startswith(start)

    def _append(self, line: bytes) -> dict[str, Any]:
        _write(self._file, line, self._path)
        self._cursor += 1
        self.grown = True
        return parse_event(line, self._path, self._cursor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a run folder from every other process that would change it.

    Raises:
        RunFolderError: It is in use, or its journal cannot be opened.
    """
    file = _open(folder)
    try:
        _lock(file, folder)
        yield
    finally:
        os.close(file)


def append_rollback(folder: Path, data: Mapping[str, Any]) -> None:
    """Journal that another version is in force from now on; its folder is locked.

    Args:
        folder: Of a run that has ended.
        data: ``policy`` and ``instead_of``, their ids, and the ``scores`` that its file has.

    Raises:
        RunFolderError: The disk refused it.
    """
    file = _open(folder)
    try:
        _read_lines(folder / FILE, file)
        _write(file, event_line(ROLLBACK, data["policy"], data), folder / FILE)
    finally:
        os.close(file)


def read_header(folder: Path) -> dict[str, Any]:
    """The header of a run folder's journal.

    Raises:
        RunFolderError: There is no journal, its header cannot be read, or its schema is another.
    """
    path = folder / FILE
    try:
        with path.open("rb") as file:
            line = file.readline()
    except OSError as error:
        raise RunFolderError(
            f"A run is resumed from its folder's {FILE}, but {path} cannot be read "
            f"({error.strerror}); name the folder that an earlier run printed."
        ) from error
    if not line.endswith(b"\n"):
        raise RunFolderError(
            f"A run is resumed from its {FILE}, but the one in {folder} ended before its first "
            "line; nothing was spent: begin it again with all of its options."
        )
    event = parse_event(line, path, 1)
    header = event.get("data")
    if event.get("kind") != "run" or not isinstance(header, dict):
        raise RunFolderError(
            f"A journal begins with the run's header, but {path} does not; name the folder of a "
            "run, or begin a new one."
        )
    if header.get("schema") not in _READABLE:
        raise RunFolderError(
            f"This version reads run folders of schema {SCHEMA}, but {path} has schema "
            f"{header.get('schema')!r}; resume it with the version that began it."
        )
    return header


def _open(folder: Path) -> int:
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_regular(path)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise RunFolderError(
            f"A run keeps its journal in its folder, but {path} cannot be written "
            f"({error.strerror}); mend the folder, or name another by --runs and --name."
        ) from error


def _lock(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise RunFolderError(
            f"A run folder serves one process at a time, but {folder} is in use by another; "
            "wait for it to end, or name another folder."
        ) from error


def _is_free(past: Sequence[bytes], folder: Path) -> bool:
    """Whether a run came to nothing, as with a wrong key, so that its place can be taken."""
    try:
        paid = (folder / CALLS_FILE).stat().st_size > 0
    except OSError:
        paid = False
    return not paid and all(line.startswith(_BEGINNINGS) for line in past)


def _with_schema(header: Mapping[str, Any]) -> dict[str, Any]:
    with_schema: dict[str, Any] = json.loads(to_bytes({"schema": SCHEMA, **header}))
    return with_schema


def check_same(found: Mapping[str, Any], header: Mapping[str, Any], folder: Path) -> None:
    """Refuse another run's header, naming what differs.

    Where a file lies may change, as when a folder is moved: its digest says if it is the same. So
    may the address of a server.

    Raises:
        RunFolderError: Something differs.
    """
    if found.get(REDACTED):
        raise RunFolderError(
            "A run is resumed from all that its journal held, but what users said was removed from "
            f"{folder}; read it by python -m evolve.runs show, or begin a new run."
        )
    was, now = _by_name(found), _by_name(_with_schema(header))
    names = (was.keys() | now.keys()) - _MOVABLE
    different = {name for name in names if was.get(name) != now.get(name)}
    for option, digest in _DIGESTED.items():
        # One of the two says it: the file's name if that is another, too.
        different -= {digest} if {option, digest} <= different else {option}
    if different:
        told = ", ".join(
            f"{name} was {was.get(name)!r} and is now {now.get(name)!r}"
            for name in sorted(different)
        )
        raise RunFolderError(
            f"A run is resumed with what it began with, but of {folder} {told}; "
            "give the same again, or begin a new run."
        )


def _by_name(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header as one level, options as the command line spells them."""
    options = {f"--{k.replace('_', '-')}": v for k, v in header.get("options", {}).items()}
    others = {f"the {k.replace('_', ' ')}": v for k, v in header.items() if k != "options"}
    return {**options, **others}


def _read_lines(path: Path, file: int) -> list[bytes]:
    """Whole lines; a torn last one, which a kill left, is cut off."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.ftruncate(file, whole)
        os.fsync(file)
    return content[:whole].split(b"\n")[:-1]


def _apart(lines: list[bytes], path: Path) -> tuple[list[bytes], dict[str, Any] | None]:
    """The lines that are replayed, and what the last rollback says."""
    start = to_bytes({"kind": ROLLBACK})[:-1]
    back = [number for number, line in enumerate(lines) if line.startswith(start)]
    if not back:
        return lines, None
    last = parse_event(lines[back[-1]], path, back[-1] + 1)
    return [line for line in lines if not line.startswith(start)], last["data"]


def _write(file: int, line: bytes, path: Path) -> None:
    try:
        done = 0
        while done < len(line):
            done += os.write(file, line[done:])
        os.fsync(file)
    except OSError as error:
        raise RunFolderError(
            f"Every step must reach the journal, but writing to {path} failed "
            f"({error.strerror}); free space or mend the disk, then resume the run."
        ) from error
