"""Records to JSON-able data and back, validated by pydantic, for the journal."""

from __future__ import annotations

from typing import Any, TypeVar

Record = TypeVar("Record")


_adapters: dict[type, Any] = {}


def _adapter(kind: type) -> Any:
    from pydantic import TypeAdapter

    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def to_data(record: Any) -> Any:
    """JSON-able data of a frozen record; fields at their default are left out."""
    return _adapter(type(record)).dump_python(record, mode="json", exclude_defaults=True)


def from_data(kind: type[Record], data: Any) -> Record:
    """The record that ``to_data`` was given.

    Raises:
        pydantic.ValidationError: The data are not of such a record.
    """
    record: Record = _adapter(kind).validate_python(data)
    return record
