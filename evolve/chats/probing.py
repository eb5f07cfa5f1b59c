"""Reads a file of probes: what is true of whom from which day on, and a question about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime

import yaml

from evolve.chats.kinds import refuse_table
from evolve.chats.lines import objects_of
from evolve.chats.reading import moment
from evolve.chats.records import Probe
from evolve.gym.checked import Place, Record, shown
from evolve.gym.own_words import content_words
from policies.errors import EnvironmentFileError

_JOINED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer, which write words without spaces between them."""

KEYS = ("user", "state", "question", "expected", "date", "choices", "accept")


def probes_of(data: bytes, source: str) -> tuple[Probe, ...]:
    """Read probes.

    Args:
        data: The bytes of a YAML list, a JSON list or JSON Lines.
        source: The file's name, which says by ``.yaml`` or ``.yml`` that it is YAML.

    Raises:
        EnvironmentFileError: In one sentence, naming file and probe, the rule that is broken, what
            was found and what to mend.
    """
    refuse_table(data, source, "probes are a list in YAML (.yaml) or JSON, an object on each line")
    yaml_file = source.endswith((".yaml", ".yml"))
    records = _yaml_records(data, source) if yaml_file else objects_of(data, source)
    return tuple(map(_probe, records))


def _yaml_records(data: bytes, source: str) -> list[Record]:
    place = Place(source, EnvironmentFileError)
    with _readable(place):
        loader = yaml.SafeLoader(data.decode("utf-8-sig"))
        node = loader.get_single_node()
        entries = node.value if isinstance(node, yaml.SequenceNode) else []
        if not entries:
            content = None if node is None else loader.construct_document(node)
            place.members(content, "the file", "probe")
    records = []
    for entry in entries:
        at = place.at("line", str(entry.start_mark.line + 1))
        _check_keys(entry, at)
        with _readable(at):
            records.append(at.record(loader.construct_document(entry)))
    return records


@contextmanager
def _readable(place: Place) -> Iterator[None]:
    """Say in a sentence what YAML cannot read there."""
    try:
        yield
    except UnicodeDecodeError:
        raise place.wrong("the file is not UTF-8", "save it as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise place.wrong(
            f"the file is no YAML{where}", "mend it there, maybe by putting the text in quotes"
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise place.wrong(
            "a value cannot be read, such as a date that no calendar has",
            "correct it, or put it in quotes if it is text",
        ) from None


def _check_keys(entry: yaml.Node, place: Place) -> None:
    """Refuse a probe in which a key stands twice; YAML would keep the last alone."""
    pairs = entry.value if isinstance(entry, yaml.MappingNode) else ()
    keys = [key.value for key, _ in pairs if isinstance(key, yaml.ScalarNode)]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise place.wrong(
            f"a key stands once, but {shown(twice)} stands twice",
            "remove one, or begin the next probe with a dash",
        )


def _probe(record: Record) -> Probe:
    strange = [key for key in record.fields if key not in KEYS]
    if strange:
        raise record.place.wrong(
            f"a probe has the keys {', '.join(KEYS)}, found {_key(strange[0])}",
            "remove it or correct its spelling",
        )
    expected = _value(record, "`expected`", record.get("expected"))
    choices = _choices(record) if record.has("choices") else None
    if choices is not None and expected not in choices:
        raise record.place.wrong(
            f"`expected` is {shown(expected)}, which is none of the `choices`",
            f"use one of {', '.join(map(shown, choices))}",
        )
    return Probe(
        place=record.place,
        user=_value(record, "`user`", record.get("user")),
        state=_state(record),
        question=record.text("question"),
        expected=expected,
        since=_day(record),
        choices=choices,
        accept=_accept(record, expected, choices),
    )


def _key(key: object) -> str:
    """A key for a message; YAML has others than texts."""
    return shown(key) if isinstance(key, str | int | float) else "one that is no text"


def _value(record: Record, what: str, value: object) -> str:
    """A text, or a number as it is written; ``what`` names it in messages."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:  # hexadecimal of thousands of digits
            raise record.place.wrong(
                f"{what} must be text, found {shown(value)}", "put it in quotes"
            ) from None
    if isinstance(value, bool | date):
        raise record.place.wrong(
            f"{what} must be text, found {value}, which YAML takes for something else",
            "put it in quotes",
        )
    return " ".join(record.place.text(value, what).split())


def _state(record: Record) -> str:
    """The name of a state, which stands before a colon where it is asked for."""
    name = _value(record, "`state`", record.get("state"))
    if set(name) & set(":|"):
        raise record.place.wrong(
            f"`state` is a name without a colon or a bar, found {shown(name)}",
            "write it like home_city",
        )
    return name


def _choices(record: Record) -> Mapping[str, str]:
    """Value to answer; in a list the values are the answers."""
    given, each = record.get("choices"), "each of `choices`"
    if isinstance(given, list):
        values = [_value(record, each, value) for value in given]
        choices = {value: value for value in values}
        same = len(choices) < len(values)
    else:
        fields = record.inner("choices").fields
        choices = {_value(record, each, key): _value(record, each, fields[key]) for key in fields}
        same = len(choices) < len(fields)
    if same or len(choices) < 2 or len(set(choices.values())) < len(choices):
        raise record.place.wrong(
            "`choices` must be at least two, no two the same, found "
            f"{', '.join(map(shown, choices)) or 'none'}",
            "add or change one, or leave `choices` out for an answer in own words",
        )
    return choices


def _accept(record: Record, expected: str, choices: object) -> tuple[str, ...]:
    """Other ways to write the value; every one must have words to be matched by."""
    accept: tuple[str, ...] = ()
    if record.has("accept"):
        if choices is not None:
            raise record.place.wrong(
                "`accept` is for answers in own words, but there are `choices`",
                "remove one of them",
            )
        items = record.items("accept", "text")
        accept = tuple(_value(record, "each of `accept`", value) for _, value in items)
    for form in (expected, *accept) if choices is None else ():
        if not content_words(form):
            raise record.place.wrong(
                f"an answer in own words is matched by words, and {shown(form)} has none",
                "give `choices`, or another value",
            )
        if _JOINED.search(form):
            raise record.place.wrong(
                f"an answer in own words is matched by words, and {shown(form)} is of a script "
                "whose words are not told apart by spaces",
                "give `choices`",
            )
    return accept


def _day(record: Record) -> date:
    value = record.get("date")
    if isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, date):
        return value
    time = moment(value)
    if time is None:
        raise record.place.wrong(
            f"`date` must be a day, found {shown(value)}",
            "write it like 2024-04-10; a time of that day may follow, as in 2024-04-10T18:30:00Z",
        )
    return time.date()
