from __future__ import annotations

import sys

import pytest

from evolve.check_agent import BROKEN, check, main

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
        ("Few", "broken by another text or setting: reply of raising_memory:Few raised Zero"),
    ],
)
def test_one_that_fails_has_its_table_too(name, said, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "raising_memory.py").write_text(RAISING)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "raising_memory", raising=False)
    assert check(f"raising_memory:{name}") == BROKEN
    out = capsys.readouterr().out
    assert out.count(said) == 1
    assert "\na whole life is lived  " in out
    for advice in ("resume the run", "evolve.check_agent", str(tmp_path)):
        assert advice not in out


def test_an_agent_that_keeps_the_contract(capsys) -> None:
    assert check("evolve.agents.example:UserWords") == 0
    out = capsys.readouterr().out
    assert "a deterministic stand-in" in out
    assert out.count(" kept\n") == 11
    assert "note:" not in out


def test_what_is_declared_and_not_heeded_is_told(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "deaf_memory.py").write_text(
        "from evolve.agents.example import UserWords\nclass Deaf(UserWords):\n"
        "    settings = {'top_k': 5, 'local_window': 4}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert check("deaf_memory:Deaf") == 0
    (note,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note:")]
    assert note.startswith("note: the setting local_window changes nothing that is asked or shown")
    assert note.endswith("leave it out of the class's settings")


def test_one_that_breaks_it_is_told_where(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "forgetful_memory.py").write_text(BAD)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert check("forgetful_memory:Forgets") == BROKEN
    out = capsys.readouterr().out
    assert "reply or prepare changes entries or writes; only observe may" in out


def test_a_name_that_is_none_is_one_line(capsys) -> None:
    assert check("nothing") == 2
    assert capsys.readouterr().err.startswith("error: --agent must be a class as package:Class")


# What does not give way to other threads either, as a regular expression that runs away.
HANGING = {
    "import": "import re; re.match('(a+)+b', 'a' * 99)",
    "reply": "from evolve.agents.example import UserWords\nclass A(UserWords):\n"
    "    def reply(self, message):\n        while True: pass",
}


@pytest.mark.parametrize("where", HANGING)
def test_one_that_hangs_is_given_up(where, tmp_path, monkeypatch, capfd) -> None:
    (tmp_path / "hanging_memory.py").write_text(HANGING[where])
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["hanging_memory:A", "--timeout", "1"]) == 2
    said = capfd.readouterr().err
    assert said.startswith("error: The check of an agent must end within --timeout, but importing")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("source", "status", "said"),
    [
        ("import os; os.abort()", 2, "was ended by signal 6"),
        ("A = 3", 2, "has no class A"),
        ("import os; os._exit(1)", BROKEN, ""),
    ],
)
def test_what_the_other_process_comes_to_is_told(
    source, status, said, tmp_path, monkeypatch, capfd
) -> None:
    (tmp_path / "told_memory.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["told_memory:A"]) == status
    assert said in capfd.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "86401"])
def test_a_limit_out_of_range_is_told(seconds, capsys) -> None:
    assert main(["nothing", "--timeout", seconds]) == 2
    assert "--timeout must be at" in capsys.readouterr().err
