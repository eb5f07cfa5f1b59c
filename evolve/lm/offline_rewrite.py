"""The offline model's role ``rewrite``: mends a prompt from the feedback in the prompt alone.

The lexicon is not loaded: beside a handful of fixed sentences it has only the words that it is
shown. It reads the headings of the feedback, ``### diet_style: 5 of 12 answers wrong (…)``, all of
them at once, worst first. How much it changes is drawn from the request's seed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence

from evolve.lm.base import Request
from evolve.lm.offline_operators import repaired, sharpened, shortened
from evolve.lm.offline_settings import diagnosed
from evolve.lm.offline_vary import varied
from policies.languages import script
from policies.words import weight, words

FEWEST_NEW, MOST_NEW = 24, 36  # bullets that one rewrite of a list adds, if it finds so many
_FEWEST_NAMED, _MOST_NAMED = 3, 6  # types that a sentence newly names
_MOST_LISTED = 12  # types that a sentence names in all
_PLAIN = 10  # a bullet up to this weight (five words, ten characters) names one specific thing

_MARKER = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
_CLOSING = re.compile(r"\n\nRespond with (?:the corresponding output fields|a JSON object)\b")
_AS_JSON = re.compile(r"\n\nRespond with a JSON object\b")
_LIMIT = re.compile(r"At most (\d+) characters")
_HEADING = re.compile(r"^### (.+?): \d+ of \d+ answers wrong", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_UNKNOWN = re.compile(r"What failed is not known\b")  # then it can only vary the text
_OLDER = re.compile(r"\b(?:older|earlier|outdated|old) values?\b|旧值", re.IGNORECASE)
_NO_CASE = re.compile(
    r"\b0 of \d|(?:\bin|:) 0(?![.\d])|\bno (?:older|earlier|outdated|old) values?\b", re.IGNORECASE
)
_NEWER = re.compile(r"\bnewe(?:r|st)\b|\bmore recent\b|最新", re.IGNORECASE)
_LISTED = re.compile(r", | and |、")

_ASK = ("When it fits, ask the user about {}.", "合适的时候，询问用户关于{}。")
_LOOK = ("First look for what is known about {}.", "先看关于{}的已知情况。")
_NEWER_WINS = (
    ("Where two memories disagree, the newer one wins.", "两条记忆互相矛盾时，以最新的一条为准。"),
    (
        "Of two values for one thing, trust the more recent.",
        "同一件事有两个说法时，相信最新的那个。",
    ),
    (
        "Take a statement as outdated once a newer one contradicts it.",
        "新的说法与旧的不同，以最新为准。",
    ),
)
_WRITING = (
    ("Keep one fact under each label.", "每个标签下只写一个事实。"),
    (
        "When a value has changed, write it again under the same label.",
        "情况变了，就在同一标签下重写。",
    ),
    ("Prefer what lasts to what is said in passing.", "优先写长期的情况，少写随口一说的话。"),
)


def rewrite(request: Request) -> str:
    """The new text or settings, in dspy's chat format, or as JSON where the prompt asks for it."""
    prompt = request.messages[-1].content
    fields = _fields(prompt)
    if "failure_log" in fields:
        said = diagnosed(fields, request.seed)
    else:
        said = {"new_text": _operated(fields, request.seed)}
    if _AS_JSON.search(prompt):
        return json.dumps(said, ensure_ascii=False)
    sections = [f"[[ ## {name} ## ]]\n{text}\n\n" for name, text in said.items()]
    return "".join([*sections, "[[ ## completed ## ]]"])


def _fields(prompt: str) -> dict[str, str]:
    """Name to content of the prompt's input fields; the first of a name counts."""
    closing = [found.start() for found in _CLOSING.finditer(prompt)]
    pieces = _MARKER.split(prompt[: closing[-1]] if closing else prompt)
    fields: dict[str, str] = {}
    for name, content in zip(pieces[1::2], pieces[2::2], strict=True):
        fields.setdefault(name, content.strip())
    return fields


def _operated(fields: dict[str, str], seed: int) -> str:
    """What the operator asks for that the prompt's fields tell of."""
    text, room = fields.get("current_text", ""), _room(fields, fields.get("current_text", ""))
    if "second_text" in fields:
        return _merge(fields)
    if "failing_type" in fields:
        return sharpened(text, fields["failing_type"])
    if "still_failing" in fields:
        failing = [name.replace("_", " ") for name in _HEADING.findall(fields["still_failing"])]
        return shortened(text, failing, room)
    if "attempt" in fields:
        attempt = fields["attempt"]
        mended = repaired(text, attempt, fields.get("changes", ""), random.Random(seed))
        fields = {**fields, "current_text": mended if _size(mended) <= room else attempt}
    return _mend(fields, seed)


def _mend(fields: dict[str, str], seed: int) -> str:
    draw = random.Random(seed)
    text, feedback = fields.get("current_text", ""), fields.get("feedback", "")
    part = fields.get("purpose", "").partition(":")[0]
    if _UNKNOWN.match(feedback):
        said = {"write_prompt": _WRITING, "answer_prompt": _NEWER_WINS}.get(part, ())
        new = varied(text, [_in_language_of(text, sentence) for sentence in said], draw)
        return new if _size(new) <= _room(fields, text) else text
    failing = tuple(dict.fromkeys(name.replace("_", " ") for name in _HEADING.findall(feedback)))
    if part == "memory_types":
        return _mend_list(text, failing, draw, _room(fields, text))
    if part == "reply_prompt":
        new = _naming(text, _ASK, failing, draw)
    elif part == "answer_prompt":
        if _older_values_stood(feedback) and not _NEWER.search(text):
            new = _with_sentence(text, _in_language_of(text, draw.choice(_NEWER_WINS)))
        else:
            new = _naming(text, _LOOK, failing, draw)
    else:
        sentences = [_in_language_of(text, sentence) for sentence in _WRITING]
        missing = [sentence for sentence in sentences if sentence not in text]
        new = _with_sentence(text, draw.choice(missing)) if missing else text
    return new if _size(new) <= _room(fields, text) else text


def _mend_list(text: str, failing: Sequence[str], draw: random.Random, room: int) -> str:
    """The list with bullets for failing types; vague bullets stay, go in part, or go."""
    wanted = draw.randint(FEWEST_NEW, MOST_NEW)
    share = draw.choice((0.0, 0.0, 0.5, 1.0))  # of vague bullets that go
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    listed = {_label(line) for line in lines}
    new = [name for name in failing if name.casefold() not in listed][:wanted]
    if not new:
        return text
    kept = [line for line in lines if not (_is_vague(line) and draw.random() < share)]
    return _fill(kept, (f"- {name}" for name in new), room)


def _merge(fields: dict[str, str]) -> str:
    """The first text and, as far as there is room, what only the second has."""
    first, second = fields.get("first_text", ""), fields["second_text"]
    room = _room(fields, first)
    if fields.get("purpose", "").startswith("memory_types:"):
        lines = first.split("\n")
        listed = {_label(line) for line in lines}
        more = [line for line in second.split("\n") if _label(line) not in listed]
        return _fill(lines, more, room)
    known = {line.strip() for line in first.split("\n")}
    text = first
    for line in (line.strip() for line in second.split("\n")):
        if line and line not in known and "{{" not in line:
            longer = _with_sentence(text, line)
            text = longer if _size(longer) <= room else text
    return text


def _fill(lines: Sequence[str], more: Iterable[str], room: int) -> str:
    """Lines, and as many more as there is room for."""
    text = "\n".join(lines)
    for line in more:
        longer = f"{text}\n{line}" if text else line
        if _size(longer) > room:
            break
        text = longer
    return text


def _naming(
    text: str, pattern: tuple[str, str], failing: Sequence[str], draw: random.Random
) -> str:
    """The text with a sentence that names failing types: extended where it stands, else added."""
    count = draw.randint(_FEWEST_NAMED, _MOST_NAMED)
    before, after = _in_language_of(text, pattern).split("{}")
    found = re.search(f"{re.escape(before)}([^.。\n]*){re.escape(after)}", text)
    old = [name for name in _LISTED.split(found[1]) if name] if found else []
    new = [name for name in failing if name not in old][:count]
    if not new:
        return text
    sentence = before + _joined([*old, *new][-_MOST_LISTED:], before) + after
    if found is None:
        return _with_sentence(text, sentence)
    return text[: found.start()] + sentence + text[found.end() :]


def _with_sentence(text: str, sentence: str) -> str:
    """The sentence on a line of its own, at the end of the first paragraph without placeholders."""
    first, gap, rest = text.partition("\n\n")
    if "{{" in first:
        return f"{sentence}\n\n{text}"
    return f"{first}\n{sentence}{gap}{rest}"


def _joined(names: Sequence[str], beside: str) -> str:
    if not beside.isascii():
        return "、".join(names)
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _older_values_stood(feedback: str) -> bool:
    """Whether a line of the feedback says that older values stood in a context."""
    return any(_OLDER.search(line) and not _NO_CASE.search(line) for line in feedback.split("\n"))


def _label(line: str) -> str:
    """What a bullet asks to remember, in plain words, without its explanation."""
    return re.split("[:：]", _BULLET.sub("", line))[0].strip().replace("_", " ").casefold()


def _is_vague(line: str) -> bool:
    """Whether a line is a bullet that explains a class of things instead of naming one."""
    if not _BULLET.match(line):
        return False
    return bool(re.search("[:：]", line)) or sum(map(weight, words(line))) > _PLAIN


def _in_language_of(text: str, sentence: tuple[str, str]) -> str:
    """A fixed sentence in English, or in Chinese for a text that is mostly Chinese."""
    return sentence[script(words(text)) == "Chinese"]


def _room(fields: dict[str, str], text: str) -> int:
    """How long the new text may be, as the rules say it; twice the old where they do not."""
    found = _LIMIT.search(fields.get("rules", ""))
    return int(found[1]) if found else 2 * _size(text)


def _size(text: str) -> int:
    """UTF-8 bytes: a Chinese character counts as three, as the rules say it."""
    return len(text.encode())
