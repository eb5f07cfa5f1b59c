"""JSON as models really write it: found in a reply, repaired where it needs it, never completed.

Searching takes time in proportion to the reply, whatever it is; repairing, which does not, is only
tried on short ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

_LONGEST_REPAIR = 8_000  # characters: twice a reply of 1,024 tokens; odd ones take a second
_THINKING = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_MARK = re.compile(r"\\.|[{}\"']", re.DOTALL)
_AFTER_STRING = re.compile(r"\s*[,:}\]]")
_BEFORE_STRING = "{[,:"
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_FORM = re.compile(r"[\s{}\[\]:,\"'“”\\]+")  # all that a repair may add or leave out


class FormatError(ValueError):
    """A reply that could not be read; its message says why."""


def spoken(reply: str) -> str:
    """What a reply says: without the text between ``<think>`` and ``</think>``, stripped.

    What stands before a ``</think>`` that nothing opened is thinking too (the prompt opened it),
    and so is all that follows a ``<think>`` that nothing closes (the reply was cut off).
    """
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _THINKING.finditer(reply):
        if not tag[1] and not thinking:
            kept.append(reply[start : tag.start()])
            thinking = True
        elif tag[1]:
            if not thinking:
                kept.clear()
            start, thinking = tag.end(), False
    if not thinking:
        kept.append(reply[start:])
    return "".join(kept).strip()


def json_value(text: str) -> tuple[object] | None:
    """The value of a text that is JSON and nothing else, in a tuple, as it may be None."""
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


def objects_in(reply: str) -> list[dict[str, object]]:
    """Every JSON object that a reply is or holds, in order; empty if there is none.

    A reply that is JSON counts as it is, so a list holds no object, whatever is in it. Otherwise
    objects are looked for in what it says, fenced or inside prose, and repaired: single quotes, a
    trailing comma, bare keys, line breaks in strings, quotation marks inside strings. Braces around
    something else are no object. Of a key's values the last counts, as in all JSON.

    Raises:
        FormatError: An object is cut off, stands in a list, needs repair in a long reply, or would
            lose more by it than white space, quotation marks, commas, colons and brackets, such as
            a sign, a comment or one of a key's values.
    """
    said = spoken(reply)
    for text in (reply, said):  # in this order: a value may speak of <think>
        whole = json_value(text)
        if whole is not None:
            return [whole[0]] if isinstance(whole[0], dict) else []
    repair = _repaired if len(said) <= _LONGEST_REPAIR else _not_repaired
    loaded = (_loaded(span, repair) for span in _spans(said))
    return [found for found in loaded if found is not None]


def _spans(text: str) -> Iterator[str]:
    """The outermost pairs of braces and what is between them."""
    end = 0
    while (start := text.find("{", end)) >= 0:
        if not end and text[:start].rstrip().endswith("["):
            raise FormatError("the reply is a list where a JSON object belongs")
        closed = _end_of_braces(text, start)
        if closed is None:
            raise FormatError("the JSON object is cut off")
        yield text[start:closed]
        end = closed


def _end_of_braces(text: str, start: int) -> int | None:
    """Where the brace at ``start`` is closed, braces inside of strings apart; None if nowhere.

    A quotation mark opens a string only where one may begin and closes it only where one may end,
    so that an apostrophe or a quotation inside of a string is a part of it.
    """
    depth, quote = 0, ""
    for mark in _MARK.finditer(text, start):
        if quote:
            if mark[0] == quote and _AFTER_STRING.match(text, mark.end()):
                quote = ""
        elif mark[0] in "\"'":
            if _before(text, mark.start()) in _BEFORE_STRING:
                quote = mark[0]
        elif mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


def _before(text: str, position: int) -> str:
    """The last character before a position that is no space."""
    position -= 1
    while text[position].isspace():
        position -= 1
    return text[position]


def _loaded(span: str, repair: Callable[[str], object]) -> dict[str, object] | None:
    """The object between two braces, or None if it is none."""
    try:
        found = json.loads(span, strict=False)
    except (ValueError, RecursionError):
        found = repair(span)
    if not isinstance(found, dict):
        return None
    # A repair that leaves nothing has thrown away what was there.
    return found if found or not span[1:-1].strip() else None


def _repaired(span: str) -> object:
    from json_repair import repair_json

    try:
        found = repair_json(span, return_objects=True, skip_json_loads=True)
        found = json.loads(json.dumps(found))  # joins the halves of escaped pairs
        kept = _bare(json.dumps(found, ensure_ascii=False)) == _bare(span)
    except Exception:  # what a repair raises on what is no JSON is its own affair
        return None
    if isinstance(found, dict) and found and not kept:  # such as the minus of −1, or the 2 of 1 | 2
        raise FormatError("the JSON object has a part that cannot be read")
    return found


def _bare(text: str) -> str:
    """The keys and values of a JSON text, run together without the form around them."""
    bare = _FORM.sub("", _ESCAPE.sub(_unescaped, text)).casefold()
    return bare.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


def _not_repaired(span: str) -> object:
    raise FormatError(f"the reply is no JSON and has over {_LONGEST_REPAIR} characters")
