"""A scripted model: the stand-in of rehearsals, whose replies a test spoils where it wants to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from evolve.gym.generating.author import Author
from evolve.gym.generating.brief import Brief
from evolve.gym.generating.kinds import make_kinds
from evolve.gym.generating.rehearsed import Rehearsed, step_of
from evolve.lm.base import Completion, Request

Spoil = Callable[[int, Mapping[str, Any]], Any]
"""From how often a step was asked before, and the right reply, to what is replied."""


@dataclass
class Scripted:
    """An LM; counts what it is asked, and replies rightly but for the steps that are spoiled."""

    spoils: dict[str, Spoil] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    requests: dict[str, list[Request]] = field(default_factory=dict)
    name: str = "scripted"

    def complete(self, request: Request) -> Completion:
        step, _ = step_of(request)
        done = Rehearsed().complete(request)
        nth = self.asked[step]
        self.asked[step] += 1
        self.requests.setdefault(step, []).append(request)
        if step not in self.spoils:
            return done
        said = self.spoils[step](nth, json.loads(done.text))
        return Completion(said if isinstance(said, str) else json.dumps(said), 1, 1)

    def told(self, step: str) -> str:
        """What the last request of a step was told to mend."""
        return self.requests[step][-1].messages[-1].content


@pytest.fixture
def brief():
    return Brief("travel assistant", periods=3, questions=2)


@pytest.fixture
def scripted(brief):
    """Makes an author with a scripted model; returns both."""

    def make(**spoils: Spoil) -> tuple[Author, Scripted]:
        lm = Scripted(spoils)
        return Author(lm, brief, 5), lm

    return make


@pytest.fixture
def kinds(brief):
    return make_kinds(Author(Rehearsed(), brief, 5))
