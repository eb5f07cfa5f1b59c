"""Tables as plain text and on a terminal."""

import sys

from evolve.tables import Table, number, plain, print_tables, short_names

TABLE = Table("Title", ("user", "n"), (("ann", "5"), ("b", "1234")))


def test_plain():
    assert plain(TABLE) == "Title\nuser     n\nann      5\nb     1234"
    assert plain(Table("Title", ("user", "n"), ())) == "Title\nuser  n"


def test_numbers():
    assert number(0.21212, 4) == "0.2121"
    assert number(-1, 1) == "-1.0"
    assert number(None) == "-"
    assert number(None, missing="undefined") == "undefined"


def test_names_are_shortened_while_they_differ():
    assert short_names(["abcdefghij", "b"]) == {"abcdefghij": "abcdefgh", "b": "b"}
    assert short_names(["abcdefghij", "abcdefghik"]) == {
        "abcdefghij": "abcdefghij",
        "abcdefghik": "abcdefghik",
    }


def test_printing(capsys, monkeypatch):
    print_tables([TABLE, TABLE])
    assert capsys.readouterr().out == f"{plain(TABLE)}\n\n{plain(TABLE)}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_tables([Table("[red]", ("[b]", "n"), (("[i]", "1"),))])
    drawn = capsys.readouterr().out
    for part in ("[red]", "[b]", "[i]", "1"):
        assert part in drawn
