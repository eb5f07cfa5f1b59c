"""The command that writes a run as a page."""

import shutil

import pytest

from evolve import report
from evolve.report import main


@pytest.fixture
def opened(monkeypatch):
    """What would be shown in a browser; the page itself is made elsewhere."""
    shown = []
    monkeypatch.setattr("evolve.results.run_record.read_run", lambda folder: folder)
    monkeypatch.setattr("evolve.results.page.page_of", lambda record: f"<p>{record.name}</p>")
    monkeypatch.setattr(report.webbrowser, "open", shown.append)
    return shown


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text("")
    return tmp_path / "runs"


@pytest.mark.parametrize("name", ["mine", "latest"])
def test_the_page_stands_in_the_run_folder(runs, opened, capsys, name):
    assert main([name, "--runs", str(runs)]) == 0
    path = runs / "mine" / "report.html"
    assert path.read_text() == "<p>mine</p>"
    assert capsys.readouterr().out == f"{path}: a page of 0.0 kB\n"
    assert opened == []  # this is no screen


def test_it_may_stand_elsewhere(runs, opened, tmp_path):
    assert main([str(runs / "mine"), "-o", str(tmp_path / "new" / "page.html")]) == 0
    assert (tmp_path / "new" / "page.html").is_file()
    assert not (runs / "mine" / "report.html").exists()


@pytest.mark.parametrize(
    ("display", "choice", "shown"), [(":0", "yes", 1), ("", "yes", 0), (":0", "no", 0)]
)
def test_it_is_shown_where_there_is_a_screen(runs, opened, monkeypatch, display, choice, shown):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    main(["mine", "--runs", str(runs), "--open", choice])
    assert len(opened) == shown


def test_what_is_no_run_and_no_place_to_write_is_said(runs, opened, capsys, tmp_path):
    assert main(["other", "--runs", str(runs)]) == 2
    assert "there is no journal.jsonl" in capsys.readouterr().err
    (tmp_path / "x.html").mkdir()
    assert main(["mine", "--runs", str(runs), "-o", str(tmp_path / "x.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: A report is written to a file, but")
    assert error.count("\n") == 1
    shutil.rmtree(runs)
    assert main(["latest", "--runs", str(runs)]) == 2
    with pytest.raises(SystemExit):
        main(["mine", "--open", "maybe"])


@pytest.mark.parametrize("place", ["journal.jsonl", "best.yaml", "a/b/page.html", "../x.txt"])
def test_it_takes_the_place_of_nothing_that_a_run_wrote(runs, opened, capsys, place):
    path = runs / "mine" / place
    assert main(["mine", "--runs", str(runs), "-o", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (runs / "mine" / "journal.jsonl").read_text() == ""
    assert main(["mine", "--runs", str(runs), "-o", str(runs / "mine" / "report.html")]) == 0
