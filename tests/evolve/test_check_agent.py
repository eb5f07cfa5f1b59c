from __future__ import annotations

import sys

import pytest

from evolve.check_agent import BROKEN, main

BAD = """
from evolve.agents.example import UserWords

class Forgets(UserWords):
    def prepare(self, query):
        self.entries = ()
        return super().prepare(query)
"""


RAISING = """
from evolve.agents.base import Prepared
from evolve.agents.example import UserWords

class Mute(Exception):
    def __str__(self):
        raise ValueError

class Raises(UserWords):
    def observe(self, messages):
        raise Mute

class Nothing(UserWords):
    def prepare(self, query):
        return Prepared(super().prepare(query).request, None)

class Numbers(UserWords):
    def observe(self, messages):
        self.writes = tuple(range(len(messages)))

class Placeholder(UserWords):
    texts = {**UserWords.texts, "reply_prompt": "Reply. {{memories}} {{mood}}"}

class Few(UserWords):
    def reply(self, message):
        return super().reply(message) + 9 // (self._speaker.policy.settings["top_k"] - 1) * ""
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Raises", "observe of raising_memory:Raises raised Mute: which cannot be shown in "),
        ("Nothing", "returned one whose context is None; mend it."),
        ("Numbers", "writes of an agent are records of the kind Write, but number 0 of "),
        ("Placeholder", "A Speaker fills in {{memories}} alone, but a text has {{mood}}; remove"),
        ("Few", "broken by another text or setting: An agent must not raise errors of its own"),
    ],
)
def test_one_that_fails_has_its_table_too(name, said, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "raising_memory.py").write_text(RAISING)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "raising_memory", raising=False)
    assert main([f"raising_memory:{name}"]) == BROKEN
    out = capsys.readouterr().out
    assert out.count(said) == 1
    assert "\na whole life is lived  " in out


def test_an_agent_that_keeps_the_contract(capsys) -> None:
    assert main(["evolve.agents.example:UserWords"]) == 0
    out = capsys.readouterr().out
    assert "a deterministic stand-in" in out
    assert out.count(" kept\n") == 11
    assert "note:" not in out


def test_one_that_breaks_it_is_told_where(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "forgetful_memory.py").write_text(BAD)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["forgetful_memory:Forgets"]) == BROKEN
    out = capsys.readouterr().out
    assert "reply or prepare changes entries or writes; only observe may" in out


def test_a_name_that_is_none_is_one_line(capsys) -> None:
    assert main(["nothing"]) == 2
    assert capsys.readouterr().err.startswith("error: --agent must be a class as package:Class")
