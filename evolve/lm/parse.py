"""Reads models' replies: a JSON repair library first, then one strict check; never a guess.

What cannot be read raises ``FormatError`` with the reason; nothing is clamped, filled in or drawn
at random.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_BARE = re.compile(r"(?:choice|answer|option)?[\s:#]*([0-9]+|[A-Za-z])[.)]?", re.IGNORECASE)
_MAX_VALUE_BYTES = 8000  # a fact, not a document: longer ones are refused
UNKNOWN = "unknown"


class FormatError(ValueError):
    """A reply that could not be read; its message says why."""


def parse_choice(reply: str, choices: Sequence[str]) -> int:
    """Index (from 0) of the choice that a reply names.

    Read as the same choice: ``{"answer": 2}``, fenced or inside prose, ``"2"``, ``2.0``, a bare
    number or letter, a choice's full text.

    Raises:
        FormatError: Nothing of the kind, or a number outside 1 … len(choices).
    """
    text = _THINKING.sub("", reply).strip()
    if not text:
        raise FormatError("the reply is empty")
    found = _object_in(text)
    answer = found.get("answer") if isinstance(found, dict) else None
    if answer is None and isinstance(found, dict):
        raise FormatError("the JSON object has no answer")
    if answer is None:
        answer = text
    return _choice_number(answer, choices) - 1


def parse_values(reply: str, states: Sequence[str]) -> dict[str, str | None]:
    """Value per state that a probe's reply gives; None where it gives none that can be read.

    ``unknown`` is returned as such. Values are not checked against the schema here.
    """
    found = parse_object(reply)
    if found is None:
        return dict.fromkeys(states)
    return {
        s: v.strip() if isinstance(v := found.get(s), str) and v.strip() else None for s in states
    }


def parse_write(reply: str) -> dict[str, str]:
    """Label → value of a memory write.

    Labels and values are stripped and NFC-normalized; labels that differ only in case are one, and
    the later value counts. An empty object is a write of nothing.

    Raises:
        FormatError: Not an object of non-empty strings, or a value over 8,000 bytes.
    """
    found = _object_in(_THINKING.sub("", reply).strip())
    if not isinstance(found, dict):
        raise FormatError("a memory write must be a JSON object of label and value")
    facts: dict[str, tuple[str, str]] = {}
    for label, value in found.items():
        if not isinstance(value, str):
            raise FormatError(f"the value under {label[:40]!r} is not a string")
        clean = (
            unicodedata.normalize("NFC", label).strip(),
            unicodedata.normalize("NFC", value).strip(),
        )
        if not all(clean):
            raise FormatError("a label or value is empty")
        if len(clean[1].encode()) > _MAX_VALUE_BYTES:
            raise FormatError(f"the value under {label[:40]!r} is over {_MAX_VALUE_BYTES} bytes")
        facts[clean[0].casefold()] = clean
    return dict(facts.values())


def parse_object(reply: str) -> dict[str, object] | None:
    """The JSON object in a reply, or None if there is none."""
    try:
        found = _object_in(_THINKING.sub("", reply).strip())
    except FormatError:
        return None
    return found if isinstance(found, dict) else None


def _object_in(text: str) -> object:
    """The JSON value in a reply, strict JSON first, repaired otherwise; None if there is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    fenced = _FENCE.search(text)
    inner = fenced.group(1) if fenced else text
    start = inner.find("{")
    if start < 0:
        return None
    from json_repair import repair_json

    end = inner.rfind("}")
    if end < start:
        raise FormatError("the JSON object is cut off")
    try:
        return repair_json(inner[start : end + 1], return_objects=True)
    except (ValueError, RecursionError):
        return None


def _choice_number(answer: object, choices: Sequence[str]) -> int:
    number: int | None = None
    if isinstance(answer, bool) or answer is None or isinstance(answer, (list, Mapping)):
        raise FormatError(f"the answer is {json.dumps(answer)[:40]}, not a choice")
    if isinstance(answer, (int, float)):
        number = int(answer) if float(answer).is_integer() else None
    elif isinstance(answer, str):
        number = _choice_in_words(answer.strip(), choices)
    if number is None or not 1 <= number <= len(choices):
        raise FormatError(f"no choice from 1 to {len(choices)} in {str(answer)[:40]!r}")
    return number


def _choice_in_words(answer: str, choices: Sequence[str]) -> int | None:
    plain = _plain(answer)
    for index, choice in enumerate(choices, 1):
        if plain == _plain(choice):
            return index
    try:
        value = float(answer)
    except ValueError:
        pass
    else:
        return int(value) if value.is_integer() else None
    bare = _BARE.fullmatch(answer)
    if bare is None:
        return None
    token = bare.group(1)
    return int(token) if token.isdigit() else ord(token.lower()) - ord("a") + 1


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".")
