"""A stand-in that replies in form alone, at typical length: what an estimate is rehearsed with.

It writes nothing that a person could use. What a text of its lets be known stands in it as
``<name: value>``, so that its own checks find there what was planned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from evolve.lm.base import Completion, Request, count_tokens

_MATERIAL = re.compile(r'<material step="(\w+)">\n(.*)\n</material>', re.DOTALL)
_TOLD = re.compile(r"<([^<>:]+): ([^<>]+)>")
_FILLER = "so many words are about what it takes to say such a thing in everyday language. "
# Characters of what models of today write there.
_QUESTION, _ANSWER, _QUERY, _EVENT, _ABOUT, _MEANING = 110, 260, 320, 110, 420, 90


class Rehearsed:
    """The stand-in as an ``LM``."""

    @property
    def name(self) -> str:
        """Always ``rehearsed``."""
        return "rehearsed"

    def complete(self, request: Request) -> Completion:
        """Reply in the form that was asked for."""
        step, material = step_of(request)
        text = json.dumps(_REPLIES[step](material), ensure_ascii=False)
        prompt = sum(count_tokens(message.content) for message in request.messages)
        return Completion(text, prompt, count_tokens(text))


def step_of(request: Request) -> tuple[str, dict[str, Any]]:
    """Which step a request is of, and its material.

    Raises:
        ValueError: It is of none.
    """
    found = _MATERIAL.search(request.messages[1].content)
    if found is None:
        raise ValueError("the request is of no step")
    material: dict[str, Any] = json.loads(found[2])
    return found[1], material


def _long(start: str, length: int) -> str:
    """A text of so many characters."""
    return f"{start} {_FILLER * (1 + length // len(_FILLER))}"[:length].strip()


def _states(material: Mapping[str, Any]) -> object:
    kinds = [
        {
            "name": f"kind_of_state_{number}",
            "meaning": _long("It says", _MEANING),
            "values": [f"value {letter} of {number}" for letter in "abc"],
        }
        for number in range(1, material["how_many"] + 1)
    ]
    return {"states": kinds}


def _profile(material: Mapping[str, Any]) -> object:
    fields = {
        "name": "First Last",
        "nature": _long("Talks", 60),
        "occupation": _long("Makes", 60),
        "hobbies_and_interests": _long("Likes", 120),
        "complementary_info": _long("Someone who", _ABOUT),
    }
    return {"profile": fields}


def _questions(material: Mapping[str, Any]) -> object:
    names = [state["name"] for state in material["states"]]
    questions = [
        {
            "question": _long(f"Question {number}:", _QUESTION),
            "states": [names[number % len(names)], names[(number + 2) % len(names)]],
        }
        for number in range(material["how_many"])
    ]
    return {"questions": questions}


def _evolution(material: Mapping[str, Any]) -> object:
    changes = {
        number: {"value": change["value"], "event": _long(f"Event {number}:", _EVENT)}
        for number, change in material["changes"].items()
    }
    return {"life": {"start": material["start"], "changes": changes}}


def _answers(material: Mapping[str, Any]) -> object:
    return {
        "answers": {
            number: f"{_told_as(facts)} {_long('Advice:', _ANSWER)}"
            for number, facts in material["combinations"].items()
        }
    }


def _matches(material: Mapping[str, Any]) -> object:
    numbers = {_told_as(facts): number for number, facts in material["combinations"].items()}
    return {
        "matches": {
            letter: int(next(number for told, number in numbers.items() if text.startswith(told)))
            for letter, text in material["answers"].items()
        }
    }


def _query(material: Mapping[str, Any]) -> object:
    facts = {name: one["value"] for name, one in material["tell"].items()}
    return {"query": f"{_long('Message:', _QUERY)} {_told_as(facts)}".strip()}


def _told(material: Mapping[str, Any]) -> object:
    return {"told": dict(_TOLD.findall(material["text"]))}


def _told_as(facts: Mapping[str, str]) -> str:
    return " ".join(f"<{name}: {value}>" for name, value in facts.items())


_REPLIES: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "states": _states,
    "profile": _profile,
    "questions": _questions,
    "evolution": _evolution,
    "answers": _answers,
    "matches": _matches,
    "sessions": _query,
    "told": _told,
    "objections": lambda material: {"objections": []},
}
