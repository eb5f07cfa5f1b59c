from __future__ import annotations

from evolve.check_agent import BROKEN, main

BAD = """
from evolve.agents.example import UserWords

class Forgets(UserWords):
    def prepare(self, query):
        self.entries = ()
        return super().prepare(query)
"""


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
