"""What others wrote is shown on the terminal and never obeyed."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.cli import CommandParser, run_command
from evolve.tables import Table, plain, print_tables
from evolve.terminal import agrees, in_line, say, visible
from policies.errors import ConfigError

ORDINARY = "Ordnung, 记忆, ذاكرة, می‌خواهم, זיכרון, नमस्ते, 👩‍🔬, 'a' \\n"


def test_text_of_any_language_stays() -> None:
    assert visible(ORDINARY) == in_line(ORDINARY) == ORDINARY


def test_what_a_terminal_obeys_is_shown() -> None:
    said = "a\x1b[2K\x07\x9b1m\u202eb\u2066\r\u2028\udc80"
    shown = r"a\u001b[2K\u0007\u009b1m\u202eb\u2066\u000d\u2028\udc80"
    assert visible(said) == in_line(said) == shown
    assert (visible("a\n\tb"), in_line("a\n\tb")) == ("a\n\tb", r"a\n\tb")


@given(st.text(st.characters(codec="utf-8")))
def test_json_stays_what_it_is(text: str) -> None:
    assert json.loads(visible(json.dumps([text], ensure_ascii=False, indent=1))) == [text]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_cell_stays_in_its_row(capsys, monkeypatch, terminal: bool) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    print_tables([Table("t\x1b]0;x\x07", ("name\n",), (("one\ntwo\u202e",),))])
    out = capsys.readouterr().out
    assert "\x1b]" not in out
    assert r"one\ntwo\u202e" in out
    assert plain(Table("t", ("a",), (("b\nc",),))) == "t\na\nb\\nc"


def test_errors_and_answers_are_shown(capsys, monkeypatch) -> None:
    def fail() -> int:
        raise ConfigError("It is\n\x1b[1mbold\u202e.")

    run_command(fail)
    with pytest.raises(SystemExit):
        CommandParser(prog="it").parse_args(["\x1b[31m\n"])
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or " Yes")
    assert agrees("\x1b[8mgo on?")
    say("a\x1bb")
    assert asked == [r"\u001b[8mgo on? [y/N] "]
    out, err = capsys.readouterr()
    assert out == "a\\u001bb\n"
    assert err.splitlines() == [
        r"error: It is \u001b[1mbold\u202e.",
        r"error: unrecognized arguments: \u001b[31m\n; see it --help",
    ]
