"""Reads models' replies: JSON is found and repaired, then comes one strict check; never a guess.

What cannot be read raises ``FormatError`` with the reason; nothing is clamped, filled in or drawn
at random, and a reply that says two different things says neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from evolve.lm.json_text import FormatError, json_value, objects_in, spoken

__all__ = [
    "UNKNOWN",
    "FormatError",
    "parse_choice",
    "parse_memories",
    "parse_object",
    "parse_values",
    "parse_words",
    "parse_write",
]

_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.0+)?")
_BARE = re.compile(r"(?:(?:choice|answer|option)[\s:#]+|#)?\(?([0-9]{1,9}|[a-z])[.):]?")
_MOST_BYTES = 8000  # a fact, not a document: longer ones are refused
UNKNOWN = "unknown"


def parse_choice(reply: str, choices: Sequence[str]) -> int:
    """Index (from 0) of the choice that a reply names.

    The choice is the ``answer`` of the one JSON object in the reply that has it (objects without it
    do not matter beside it), or else the whole reply. Read as the same choice: ``2``, ``2.0``,
    ``"2"``, ``B``, ``Choice 2``, the choice's text in full, with its number or without; letters,
    width of characters, spaces and a full stop at the end aside. Thinking before it does not count.
    A number is that of a choice before it is a text that happens to be a number.

    Raises:
        FormatError: Nothing of the kind, null, true, a list, an object, a number outside
            1 … len(choices), a text that two choices share, several answers that differ, or JSON
            that repair would take a sign or a word from.
    """
    found = objects_in(reply)
    given = [one["answer"] for one in found if "answer" in one]
    if found and not given:
        raise FormatError("the JSON object has no answer")
    numbers = {_choice_number(one, choices) for one in given or [_whole(reply)]}
    if len(numbers) > 1:
        raise FormatError("the reply gives several answers that differ")
    return numbers.pop() - 1


def parse_words(reply: str) -> str:
    """The answer that a reply gives in its own words.

    It is the ``answer`` of the one JSON object in the reply that has it, a text or a number, or
    else the whole reply.

    Raises:
        FormatError: There is nothing of the kind, or several answers that differ.
    """
    found = objects_in(reply)
    given = [one["answer"] for one in found if "answer" in one]
    if found and not given:
        raise FormatError("the JSON object has no answer")
    said = {str(_in_words(one)).strip() for one in given or [_whole(reply)]}
    if len(said) > 1:
        raise FormatError("the reply gives several answers that differ")
    return said.pop()


def _in_words(answer: object) -> str | int | float:
    if isinstance(answer, str) and answer.strip():
        return answer
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return answer
    raise FormatError(f"the answer is of type {type(answer).__name__}, or empty, not in words")


def parse_values(reply: str, states: Sequence[str]) -> dict[str, str | None]:
    """Value per state that a probe's reply gives; None where it gives none that can be read.

    Texts are stripped; they are checked against the schema, and ``UNKNOWN`` is told apart, where
    the schema is known.
    """
    found = parse_object(reply, *states) or {}
    given = {state: found.get(state) for state in states}
    return {s: v.strip() or None if isinstance(v, str) else None for s, v in given.items()}


def parse_write(reply: str) -> dict[str, str]:
    """Label → value of a memory write.

    Applied: one JSON object of texts, fenced or with prose around it, with the usual slips of
    models repaired; ``{}`` is a write of nothing. Labels and values are NFC-normalized and
    stripped, and runs of space in a label become one space; braces and line breaks in values stay.
    Labels that differ only in case are one, the later spelling and value count.

    Raises:
        FormatError: Whatever else there is, the whole of it: no object, a list, null or a string; a
            truncated object; several objects that differ; one that repair would take words from, or
            that needs repair in a reply of over 8,000 characters; a value that is no string, such
            as a number, null, a list or an object; an empty label or value; one over 8,000 bytes;
            half of a surrogate pair.
    """
    found = objects_in(reply)
    if not found:
        raise FormatError("a memory write must be a JSON object of label and value")
    if any(one != found[0] for one in found):
        raise FormatError("the reply holds several JSON objects that differ")
    facts: dict[str, tuple[str, str]] = {}
    for label, value in found[0].items():
        if not isinstance(value, str):
            raise FormatError(f"the value under {label[:40]!r} is not a string")
        name, fact = " ".join(_clean(label).split()), _clean(value)
        if not name or not fact:
            raise FormatError("a label or value is empty")
        facts[name.casefold()] = name, fact
    return dict(facts.values())


def parse_memories(reply: str) -> list[str]:
    """Texts of an extraction in mem0's form, ``{"memory": [{"text": …}, …]}``, each once.

    Read as ``parse_write`` reads; other keys of a memory do not matter. ``{}`` extracts nothing.

    Raises:
        FormatError: No object, or several that differ; no list of memories in it; a memory without
            a text, or with one that is empty, over 8,000 bytes or holds half of a surrogate pair.
    """
    found = objects_in(reply)
    if not found or any(one != found[0] for one in found):
        raise FormatError("an extraction must be one JSON object with a list of memories")
    memories = found[0].get("memory", [] if not found[0] else None)
    if not isinstance(memories, list):
        raise FormatError("the JSON object has no list under memory")
    texts = [one.get("text") if isinstance(one, dict) else None for one in memories]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise FormatError("a memory has no text")
    return list(dict.fromkeys(_clean(str(text)) for text in texts))


def parse_object(reply: str, *keys: str) -> dict[str, object] | None:
    """The JSON object in a reply that has any of the keys.

    None where there is none, where it is cut off, or where several of them differ.
    """
    try:
        found = [one for one in objects_in(reply) if not one.keys().isdisjoint(keys)]
    except FormatError:
        return None
    return found[0] if found and all(one == found[0] for one in found) else None


def _clean(text: str) -> str:
    clean = unicodedata.normalize("NFC", text).strip()
    try:
        size = len(clean.encode())
    except UnicodeEncodeError:
        raise FormatError("a label or value holds half of a surrogate pair") from None
    if size > _MOST_BYTES:
        raise FormatError(f"the label or value {clean[:40]!r}… is over {_MOST_BYTES} bytes")
    return clean


def _whole(reply: str) -> object:
    """A reply without an object, as the value or the words that it is."""
    text = spoken(reply)
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`")
        text = (text[4:] if text[:4].lower() == "json" else text).strip()
    if not text:
        raise FormatError("the reply is empty" if not reply.strip() else "the reply only thinks")
    value = json_value(text)
    return text if value is None else value[0]


def _choice_number(answer: object, choices: Sequence[str]) -> int:
    """Number (from 1) of the choice that an answer names."""
    number: int | None = None
    if answer is None or isinstance(answer, bool | list | dict):
        raise FormatError(f"the answer is of type {type(answer).__name__}, not a choice")
    if isinstance(answer, int) or (isinstance(answer, float) and answer.is_integer()):
        number = int(answer)
    elif isinstance(answer, str):
        number = _choice_in_words(answer, choices)
    if number is None or not 1 <= number <= len(choices):
        raise FormatError(f"no choice from 1 to {len(choices)} in {str(answer)[:40]!r}")
    return number


def _choice_in_words(answer: str, choices: Sequence[str]) -> int | None:
    plain = _plain(answer)
    if _NUMBER.fullmatch(plain) and 1 <= float(plain) <= len(choices):
        return int(float(plain))
    numbered = [(n, _plain(choice)) for n, choice in enumerate(choices, 1)]
    named = [n for n, text in numbered if plain in {text, f"{n}. {text}", f"{n}: {text}"}]
    if named:
        return named[0] if len(named) == 1 else None
    bare = _BARE.fullmatch(plain)
    if bare is None:
        return None
    return int(bare[1]) if bare[1].isdigit() else ord(bare[1]) - ord("a") + 1


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".。")
