"""Records to JSON-able data and back, validated by pydantic, for the journal."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

Record = TypeVar("Record")


@lru_cache(maxsize=32)
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def to_data(record: Any, kind: Any = None) -> Any:
    """JSON-able data of a frozen record; fields at their default are left out."""
    return _adapter(kind or type(record)).dump_python(record, mode="json", exclude_defaults=True)


def from_data(kind: type[Record], data: Any) -> Record:
    """The record that ``to_data`` was given.

    Raises:
        pydantic.ValidationError: The data are not of such a record.
    """
    record: Record = _adapter(kind).validate_python(data)
    return record
