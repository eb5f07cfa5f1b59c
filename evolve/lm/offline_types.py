"""The offline model's role ``rewrite`` where it is told questions and nothing of what failed.

It then takes what the questions speak of for what should be remembered: pairs of neighbouring words
that are neither short nor found in most of the questions.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

from evolve.lm.base import Message, Request
from evolve.lm.offline_rewrite import rewrite
from policies.words import weight, words

_ASKED = re.compile(r"^- asked: (.*)$", re.MULTILINE)
_HEADING = re.compile(r"^### ", re.MULTILINE)
_LEAST = 4  # letters of a word that may name something
_FIELD = "[[ ## feedback ## ]]\n"


def asks(request: Request) -> bool:
    """Whether a request tells questions, and no heading of what failed."""
    prompt = request.messages[-1].content
    return bool(_ASKED.search(prompt)) and not _HEADING.search(prompt)


def from_questions(request: Request) -> str:
    """The new list, in the format that the request asks for."""
    prompt = request.messages[-1].content
    headings = [f"### {name}: 1 of 1 answers wrong" for name in _subjects(_ASKED.findall(prompt))]
    prompt = prompt.replace(_FIELD, "\n".join([_FIELD.strip(), *headings, ""]), 1)
    return rewrite(replace(request, messages=(*request.messages[:-1], Message("user", prompt))))


def _subjects(questions: list[str]) -> list[str]:
    """Pairs of words, those of the most questions first."""
    told = [[word for word in words(question) if _may_name(word)] for question in questions]
    common = Counter(word for one in told for word in set(one))
    most = max(2, len(questions) // 3)
    kept = [[word for word in one if common[word] <= most] for one in told]
    pairs = Counter(f"{one} {other}" for line in kept for one, other in pairwise(line))
    return sorted(pairs, key=lambda pair: (-pairs[pair], pair))


def _may_name(word: str) -> bool:
    return weight(word) == 1 or len(word) >= _LEAST
