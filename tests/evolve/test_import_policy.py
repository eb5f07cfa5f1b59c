"""The command that imports: what was found is shown, and written only when it is confirmed."""

from __future__ import annotations

import sys

import pytest

from evolve.import_policy import DECLINED, main
from policies.policy import read_policy, write_policy


@pytest.fixture
def prompt(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("Be kind. Notes: {context}\n")
    return path


def test_it_is_shown_and_written(prompt, tmp_path, capsys):
    out = tmp_path / "mine.yaml"
    assert main([str(prompt), "-o", str(out), "--yes"]) == 0
    said = capsys.readouterr().out
    assert "Read as a prompt that replies, architecture awe" in said
    assert "{context}" in said
    policy = read_policy(out)
    assert policy.texts["reply_prompt"] == "Be kind. Notes: {{memories}}\n"
    assert policy.id in said


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("YES ", 0), ("", DECLINED), ("n", 1)])
def test_it_is_confirmed_on_a_terminal(prompt, tmp_path, answer, status, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: answer)
    out = tmp_path / "mine.yaml"
    assert main([str(prompt), "-o", str(out)]) == status
    assert out.exists() == (status == 0)


def test_where_nobody_can_be_asked_nothing_is_written(prompt, tmp_path, capsys):
    out = tmp_path / "mine.yaml"
    assert main([str(prompt), "-o", str(out)]) == 2
    assert "give --yes" in capsys.readouterr().err
    assert not out.exists()


def test_a_place_that_cannot_be_written_is_one_sentence(prompt, capsys):
    assert main([str(prompt), "-o", "/", "--yes"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_nothing_is_written_among_the_files_of_a_run(prompt, tmp_path, capsys):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal.jsonl").write_text("")
    best = tmp_path / "run" / "best.yaml"
    assert main([str(prompt), "-o", str(best), "--yes"]) == 2
    assert "is inside" in capsys.readouterr().err
    assert not best.exists()


def test_only_an_earlier_import_is_replaced(prompt, tmp_path, capsys):
    out = tmp_path / "mine.yaml"
    for word in ("written", "replaced"):
        assert main([str(prompt), "-o", str(out), "--yes"]) == 0
        assert f"\n{word}: {out}, policy" in capsys.readouterr().out
    evolved = read_policy(out).derive(settings={"top_k": 1})
    write_policy(evolved, out)
    assert main([str(prompt), "-o", str(out), "--yes"]) == 2
    assert "or a policy that was imported before" in capsys.readouterr().err
    assert read_policy(out) == evolved
    assert main([str(prompt), "-o", str(prompt), "--yes"]) == 2
