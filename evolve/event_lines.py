"""An event as a line of the journal, with a checksum of its own."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from policies.errors import RunFolderError

_SUM = b', "sum": '  # of all before it in the line


def to_bytes(data: object) -> bytes:
    """JSON as the journal has it."""
    # Half of a character that stands for two may come from a model's reply.
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")


def event_line(kind: str, key: str, data: object) -> bytes:
    """An event as the journal writes it, with its checksum and the end of the line."""
    body = to_bytes({"kind": kind, "key": key, "data": data})[:-1]
    return body + _SUM + b"%d}\n" % zlib.crc32(body)


def parse_event(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """The event of a line: ``kind``, ``key`` and ``data``.

    Args:
        line: With or without its end.
        path: Of the journal, for the message.
        number: Of the line, from 1, for the message.

    Raises:
        RunFolderError: Its checksum is wrong.
    """
    body, found, checksum = line.rpartition(_SUM)
    if found and checksum.rstrip() == b"%d}" % zlib.crc32(body):
        event: dict[str, Any] = json.loads(body + b"}")
        return event
    raise RunFolderError(
        f"Every line of a journal ends with its own checksum, but line {number} of {path} was "
        "changed or damaged; restore the file from a copy, or begin a new run."
    )
