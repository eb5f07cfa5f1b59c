"""Checked reading of JSON from outside: every mistake is one sentence that says where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from policies.errors import UserError
from policies.files import read_whole

SHOWN = 60  # characters of a found value in a message; enough to find it, short enough to read


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file, for messages.

    Attributes:
        source: Name of the file.
        error: What a mistake in it is raised as.
        where: Steps from the outside in, such as ``("user", "u1"), ("period", 2)``; numbers are
            counted from 0, and messages say so.
    """

    source: str
    error: type[UserError]
    where: tuple[tuple[str, str | int], ...] = ()

    def at(self, word: str, position: str | int) -> Place:
        """The place one step further in."""
        return Place(self.source, self.error, (*self.where, (word, position)))

    def wrong(self, rule: str, mend: str) -> UserError:
        """The error to raise here: one sentence of place, broken rule and next step."""
        steps = [self.source, *(f"{word} {_plain(position)}" for word, position in self.where)]
        counted = any(isinstance(position, int) for _, position in self.where)
        head = ", ".join(steps) + (" (counted from 0)" if counted else "")
        text = f"{head}: {rule}; {mend}."
        return self.error(text.encode("utf-8", "backslashreplace").decode())

    def record(self, value: object) -> Record:
        """``value`` as an object with keys."""
        if not isinstance(value, dict):
            raise self.wrong(
                f"an object in braces belongs here, found {shown(value)}", "put one there"
            )
        return Record(self, value)

    def text(self, value: object, what: str) -> str:
        """``value`` as text that is not blank; ``what`` names it in the message."""
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(
                f"{what} must be text that is not blank, found {shown(value)}", "write it in quotes"
            )
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise self.wrong(
                    f"{what} holds half of a surrogate pair, found {shown(value)}",
                    "replace that character",
                ) from None
        return value

    def texts(self, value: object, what: str) -> tuple[str, ...]:
        """``value`` as a list of at least one text."""
        if not isinstance(value, list) or not value:
            raise self.wrong(
                f"{what} must be a list with at least one text, found {shown(value)}",
                "put the list there",
            )
        return tuple(self.text(item, f"each text of {what}") for item in value)

    def members(self, value: object, what: str, word: str) -> list[tuple[Place, object]]:
        """The members of a list of at least one, each with its place, called ``word``."""
        if not isinstance(value, list) or not value:
            raise self.wrong(
                f"{what} must be a list with at least one {word}, found {shown(value)}",
                "add one",
            )
        return [(self.at(word, number), item) for number, item in enumerate(value)]


@dataclass(frozen=True, slots=True)
class Record:
    """An object of the file at its place."""

    place: Place
    fields: dict[str, object]

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self.fields.get(key) is not None

    def get(self, key: str) -> object:
        """The value of a key that must be there and not null."""
        value = self.fields.get(key)
        if value is None:
            found = "null" if key in self.fields else "missing"
            raise self.place.wrong(f"`{key}` must be given, but it is {found}", "add its value")
        return value

    def text(self, key: str) -> str:
        """The text of a key."""
        return self.place.text(self.get(key), f"`{key}`")

    def optional_text(self, key: str) -> str | None:
        """The text of a key, or None where it is absent or null."""
        return self.text(key) if self.has(key) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of a key that holds a list of at least one."""
        return self.place.texts(self.get(key), f"`{key}`")

    def flag(self, key: str) -> bool:
        """The true or false of a key."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise self.place.wrong(
                f"`{key}` must be true or false, found {shown(value)}", "write one of them"
            )
        return value

    def inner(self, key: str) -> Record:
        """The object of a key."""
        value = self.get(key)
        if not isinstance(value, dict):
            raise self.place.wrong(
                f"`{key}` must be an object in braces, found {shown(value)}", "put one there"
            )
        return Record(self.place, value)

    def items(self, key: str, word: str) -> list[tuple[Place, object]]:
        """The members of a key's list, as ``Place.members``."""
        return self.place.members(self.get(key), f"`{key}`", word)

    def records(self, key: str, word: str) -> Iterator[Record]:
        """Like ``items``, each member an object."""
        return (place.record(item) for place, item in self.items(key, word))


def shown(value: object) -> str:
    """A found value for a message: short texts and numbers as they are, the rest by its kind."""
    if isinstance(value, dict):
        return f"an object with {len(value)} keys" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, bytes | set):
        return "bytes" if isinstance(value, bytes) else "a set"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):  # a day, which YAML has, or a number of thousands of digits
        return "a number of many digits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def read_bytes(path: str | Path, error: type[UserError]) -> bytes:
    """The bytes of a file.

    Raises:
        UserError: As the class ``error``, in one sentence, where the file cannot be read.
    """
    if not str(path).strip():
        raise error("A file is named by its path, but the one given is blank; give its path.")
    try:
        return read_whole(Path(path))
    except FileNotFoundError:
        raise error(f"There is no file {path}; check the path.") from None
    except IsADirectoryError:
        raise error(f"{path} is a folder where a file is needed; name the file in it.") from None
    except OSError as problem:
        raise error(f"{path} cannot be read ({problem.strerror}); mend that first.") from None
    except ValueError:  # a null byte in the path
        raise error(f"{str(path)!r} is no path of a file; check it.") from None


def read_json(path: str | Path, error: type[UserError]) -> object:
    """The content of a JSON file.

    Raises:
        UserError: As the class ``error``, in one sentence, where the file cannot be read, is empty,
            is not UTF-8 or is not JSON.
    """
    return parse_json(read_bytes(path, error), str(path), error)


def parse_json(data: bytes, source: str, error: type[UserError]) -> object:
    """The content of JSON bytes; ``source`` names them in messages; errors as ``read_json``."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            f"{source} is not UTF-8 from byte {problem.start} on; save it as UTF-8."
        ) from None
    if not text.strip():
        raise error(f"{source} is empty; put the JSON there.")
    try:
        content: object = json.loads(text)
    except json.JSONDecodeError as problem:
        raise error(
            f"{source} is not JSON: {problem.msg} at line {problem.lineno}, "
            f"column {problem.colno}; mend it there."
        ) from None
    except RecursionError:
        raise error(f"{source} is nested too deeply to be read; flatten it.") from None
    except ValueError:  # an integer of thousands of digits
        raise error(f"{source} holds a number too long to be read; shorten it.") from None
    return content


def _plain(position: str | int) -> str:
    text = str(position)
    return text if text.isprintable() and len(text) <= SHOWN else shown(text)
