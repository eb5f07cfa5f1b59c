"""A stand-in that writes as much as models write, and nothing of sense: for estimates.

It reads from a prompt only what decides how long a reply is: the labels of remembered types, the
states of a probe, the text to rewrite. Lengths are drawn anew for every request, from its seed.
They are those of models that do not think aloud; one that does writes several times as much.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping

from evolve.lm import extraction
from evolve.lm.base import Completion, Request, count_tokens
from evolve.seeding import derive

REPLY = 120  # tokens of an assistant's reply: a few friendly sentences
FOLLOW_UP = 40  # tokens that a user says
TOLD = 0.3  # share of a user's messages that tell a state
FACTS = 2  # facts that a write keeps, of a user's one or two messages
FACT = 20  # tokens of a fact, its label besides
GROWTH = 1.4  # of a text by its rewrite
CAUSES = 80  # tokens of a diagnosis in words
ENVELOPE = 4  # tokens around each message of a prompt: its role, its ends

_WORDS = """
time home about really work would like with some after little people always week could think going
maybe around place before want other day long still kind looking every need something family without
found later
"""
_TYPES = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*([^:：\n]{1,80})", re.MULTILINE)
_REMEMBERED = re.compile(r"<memory_types>(.*?)</memory_types>", re.DOTALL)
_STATES = re.compile(r"<states>\n(.*?)\n</states>", re.DOTALL)
_CHOICE = re.compile(r"^(\d+)\. ", re.MULTILINE)
_FENCED = re.compile(r"```\n(.*?)\n```", re.DOTALL)
_ASKS_SETTINGS = "[[ ## new_settings ## ]]"
_CHOICES = re.compile(r"^- (\w+): [^;\n]+; must be one of ([^;\n]+);", re.MULTILINE)
_RANGES = re.compile(r"^- (\w+): [^;\n]+; must be a whole number from (\d+) to (\d+)", re.MULTILINE)
_TEXT = re.compile(r"\[\[ ## (?:current|first)_text ## \]\]\n(.*?)\n\n\[\[ ## ", re.DOTALL)


class TypicalLM:
    """Plays every role by the length of its replies."""

    @property
    def name(self) -> str:
        """Of no model."""
        return "typical"

    def complete(self, request: Request) -> Completion:
        """A reply that its reader accepts, as long as such replies are."""
        prompt = "\n".join(message.content for message in request.messages)
        draw = random.Random(derive("typical", request.task, request.seed, prompt))
        text = _SAY[request.task](prompt, draw)
        tokens = sum(count_tokens(message.content) + ENVELOPE for message in request.messages)
        return Completion(text, tokens, min(count_tokens(text), request.max_tokens))


def _reply(prompt: str, draw: random.Random) -> str:
    return _text(draw, REPLY)


def _user(prompt: str, draw: random.Random) -> str:
    states = _options(prompt)
    told: Mapping[str, str] = {}
    if states and draw.random() < TOLD:
        name = draw.choice(sorted(states))
        told = {name: states[name][0]}
    return json.dumps({"message": _text(draw, FOLLOW_UP), "told": told}, ensure_ascii=False)


def _write(prompt: str, draw: random.Random) -> str:
    found = _REMEMBERED.search(prompt)
    labels = [label.strip() for label in _TYPES.findall(found[1] if found else "")] or ["note"]
    count = min(len(labels), draw.randint(0, 2 * FACTS))
    facts = {label: _text(draw, FACT) for label in draw.sample(labels, count)}
    if extraction.asks(prompt):
        return extraction.as_reply(list(facts.values()))
    return json.dumps(facts, ensure_ascii=False)


def _choose(prompt: str, draw: random.Random) -> str:
    return json.dumps({"answer": draw.randint(1, max(1, len(_CHOICE.findall(prompt))))})


def _probe(prompt: str, draw: random.Random) -> str:
    said = {name: draw.choice(options) for name, options in _options(prompt).items()}
    return json.dumps(said, ensure_ascii=False)


def _rewrite(prompt: str, draw: random.Random) -> str:
    if _ASKS_SETTINGS in prompt:
        return _set(prompt, draw)
    found, fenced = _TEXT.findall(prompt), _FENCED.search(prompt)
    asked_in_fences = not found and fenced is not None
    old = fenced[1] if asked_in_fences and fenced else found[-1] if found else ""
    added = _text(draw, (GROWTH - 1) * count_tokens(old))
    if asked_in_fences:
        return f"```\n{old}\n- {added}\n```"
    return f"[[ ## new_text ## ]]\n{old}\n- {added}\n\n[[ ## completed ## ]]"


def _set(prompt: str, draw: random.Random) -> str:
    """Causes of failures, and one setting at a value that it may have."""
    values = {name: choices.split(", ") for name, choices in _CHOICES.findall(prompt)}
    values |= {name: [low, high] for name, low, high in _RANGES.findall(prompt)}
    name = draw.choice(sorted(values))
    said, causes = {name: draw.choice(values[name])}, _text(draw, CAUSES)
    return (
        f"[[ ## root_causes ## ]]\n{causes}\n\n[[ ## new_settings ## ]]\n{json.dumps(said)}\n\n"
        "[[ ## completed ## ]]"
    )


_SAY: Mapping[str, Callable[[str, random.Random], str]] = {
    "reply": _reply,
    "user": _user,
    "write": _write,
    "answer": _choose,
    "bound": _choose,
    "probe": _probe,
    "rewrite": _rewrite,
}


def _options(prompt: str) -> dict[str, list[str]]:
    """State to its options, or to its one value, of the last list of states in a prompt."""
    blocks = _STATES.findall(prompt)
    lines = (line.partition(": ") for line in (blocks[-1].splitlines() if blocks else ()))
    return {name: rest.split(" | ") for name, _, rest in lines if rest}


def _text(draw: random.Random, tokens: float) -> str:
    """Words of about so many tokens: half to one and a half times as many."""
    choices = _WORDS.split()
    size = round(4 * tokens * draw.uniform(0.5, 1.5))
    words: list[str] = []
    while size > 0:
        words.append(draw.choice(choices))
        size -= len(words[-1]) + 1
    return " ".join(words).capitalize() + "."
