"""The offline model's roles ``reply`` and ``user``: it asks as it is told, and tells if asked."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache

from evolve.lm.base import Request
from evolve.lm.lexicon import is_cjk
from evolve.lm.offline_memory import asked, instructions, items_of
from evolve.lm.reader import key_of, sentences, the_reader, uniform
from evolve.lm.vectors import vectors

_ASK = re.compile(
    r"\bask(?:s|ing)?\b(?:[^.\n:]*?\b(?:about|for|after)\b|[^.\n:]*:)?([^.\n]*)", re.I
)
_ASK_ZH = re.compile(r"(?:询问|问问|提问)(?:用户)?(?:关于)?[：:]?([^。\n]*)")
_LIST = re.compile(r"[,;、，；]|\s+(?:and|or)\s+")
_STATES = re.compile(r"<states>\n(.*?)\n</states>", re.DOTALL)
_PROFILE = re.compile(r"<profile>\n(.*?)\n</profile>", re.DOTALL)
_CONVERSATION = re.compile(r"<conversation>\n(.*?)\n</conversation>", re.DOTALL)
_SHORTEST_REMARK = (12, 4)  # characters, in English and in Chinese
_ASKED_ABOUT = 0.45  # plain similarity from which a question is taken to mean a state
_REMARKS = (
    "That gives me something to work with; a small first step today is worth more than a plan.",
    "A good way in is to list what you have, pick one thing and see how it goes for a week.",
    "I would keep it simple: choose one change, try it, and adjust it when you know more.",
    "There are several ways to go about it, and the best one is the one that you will keep up.",
)
_REMARKS_ZH = ("可以先从一件小事开始，试一个星期再调整。", "有好几种办法，选一个容易坚持的就好。")


def reply(request: Request) -> str:
    """A short remark, and a question about the first topic to be asked that is not yet known."""
    last = asked(request.messages)
    remarks = _REMARKS_ZH if is_cjk(last) else _REMARKS
    said = remarks[int(uniform(request.seed, key_of(last)) * len(remarks))]
    topics = _topics(instructions(request))
    known = {item.reading.concept for item in items_of(request)}
    open_topics = [t for t in topics if (the_reader().named(t) or t) not in known]
    if not open_topics:
        return said
    topic = open_topics[int(uniform(request.seed, key_of("topic")) * len(open_topics))]
    question = f"顺便问一下，{topic}怎么样？" if is_cjk(topic) else f"May I ask about your {topic}?"
    return f"{said} {question}"


def play_user(request: Request) -> str:
    """The user's next message: what was asked, told in passing, or small talk from the profile."""
    last = request.messages[-1].content
    block, talk = _STATES.search(last), _CONVERSATION.search(last)
    lines = block.group(1).split("\n") if block else []
    states = dict(line.split(": ", 1) for line in lines if ": " in line)
    heard = talk.group(1).rsplit("assistant: ", 1)[-1] if talk else ""
    told = _asked_state([s for s in sentences(heard) if s.endswith(("?", "？"))], states)
    if told is not None:
        name, value = (text.replace("_", " ") for text in (told, states[told]))
        words = f"说到{name}，我是{value}。" if is_cjk(name) else f"As for my {name}: {value}."
        return _as_json(words, {told: states[told]})
    return _as_json(_small_talk(request, in_chinese=is_cjk(heard)), {})


def _small_talk(request: Request, *, in_chinese: bool) -> str:
    thanks = "谢谢，我会试试。" if in_chinese else "Thanks, I will try that."
    found = _PROFILE.search(request.messages[0].content)
    text = found.group(1) if found else ""
    remarks = [
        line
        for line in sentences(text.rsplit(": ", 1)[-1])
        if len(line) > _SHORTEST_REMARK[in_chinese] and is_cjk(line) == in_chinese
    ]
    if not remarks:
        return thanks
    pick = int(uniform(request.seed, key_of(text)) * len(remarks))
    return f"{thanks}{'' if in_chinese else ' '}{remarks[pick]}"


def _asked_state(questions: Sequence[str], states: dict[str, str]) -> str | None:
    """The state that the last question is about, or None."""
    if not questions or not states:
        return None
    asked = questions[-1]
    concept = the_reader().named(_about(asked))
    for name in states:
        if concept is not None and the_reader().named(name) == concept:
            return name
    names = list(states)
    rows = vectors([_about(asked), *(name.replace("_", " ") for name in names)])
    alike = rows[1:] @ rows[0]
    best = int(alike.argmax())
    return names[best] if alike[best] >= _ASKED_ABOUT else None


def _about(question: str) -> str:
    """What a question asks for: the words behind "about your" or the whole."""
    return re.split(r"\babout(?: your)?\b|顺便问一下，", question)[-1].strip(" ?？。怎么样")


@lru_cache(maxsize=2048)
def _topics(instructions: str) -> tuple[str, ...]:
    """What the instructions say to ask about, in order."""
    listed = [m.group(1) for m in _ASK.finditer(instructions)]
    listed += [m.group(1) for m in _ASK_ZH.finditer(instructions)]
    topics = [
        re.sub(r"^(?:the|their|your|user's)\s+", "", t.strip(" .:'\"-"))
        for text in listed
        for t in _LIST.split(text)
    ]
    return tuple(dict.fromkeys(t.replace("_", " ") for t in topics if len(t) > 2 or is_cjk(t)))


def _as_json(message: str, told: dict[str, str]) -> str:
    return json.dumps({"message": message, "told": told}, ensure_ascii=False)
