"""What is shown: plain lines into files, lines above a bar on a terminal."""

import dataclasses
import io

import pytest
from rich.console import Console

from evolve.display import LiveDisplay, Pace, PlainDisplay, Standing, make_display
from evolve.tables import Table

NOW = Standing(
    generation=3,
    spent=14.2,
    budget=60,
    set_aside=20,
    best=0.4123,
    stages=(0.5, 0.1, 0.05),
    unread=0.0,
    versions=2,
    candidates=4,
    policy="5b1f0c2a9d3e",
    people="6 train users",
)
TABLE = Table("Numbers", ("name", "value"), (("one", "1"),))


def test_where_a_run_stands_in_words():
    assert str(NOW) == (
        "generation 3  best so far: accuracy 0.41, write/read/utilization 0.50/0.10/0.05 "
        "(6 train users)  candidates 4, accepted 1"
    )
    unread = str(dataclasses.replace(NOW, unread=0.3))
    assert "0.50/0.10/0.05, format 0.30 (6 train users)" in unread


@pytest.mark.parametrize(
    ("spent", "left"),
    [(14.2, "left 46 of 60 (20 for the"), (50, "left 10 of 60 (10 for the")],
)
def test_what_is_left_of_the_budget_with_what_is_kept_for_the_end(spent, left):
    assert left in NOW.budget_left(spent)


def test_lines_only_where_there_is_no_terminal(capsys):
    with make_display() as display:
        assert isinstance(display, PlainDisplay)
        display.say("a [bold]line[/bold]")
        display.standing(NOW)
        display.standing(dataclasses.replace(NOW, candidates=5))
        display.progress(12, replayed=False)
        display.tables([TABLE])
    assert capsys.readouterr().out == (
        f"a [bold]line[/bold]\n{NOW}, {NOW.budget_left(14.2)}\n\n"
        "Numbers\nname  value\none       1\n\n"
    )


@pytest.fixture
def rendered():
    def render(display, width=80):
        console = Console(file=io.StringIO(), width=width, color_system=None)
        console.print(display._render())
        return console.file.getvalue()

    return render


@pytest.mark.parametrize("width", [50, 80, 140])
def test_the_bar_tells_all_whatever_the_width(rendered, width):
    display = LiveDisplay()
    assert rendered(display).strip() == ""
    display.standing(NOW)
    display.progress(12.4, replayed=False)
    shown = rendered(display, width)
    assert all(len(line) <= width for line in shown.splitlines())
    words = shown.replace("\n", " ").split()
    assert {"0.41,", "0.50/0.10/0.05", "4,", "48", "60", "-:--"} <= set(words)
    assert width < 80 or "budget left 48 of 60 (20 for the test) time left -:--" in shown


def test_the_pace_is_that_of_rollouts_that_were_lived_not_replayed():
    pace = Pace()
    assert pace.seconds(10) is None
    for lived in range(1, 6):
        pace.add(lived, 100.0 + 0.01 * lived, replayed=True)
    assert pace.seconds(10) is None
    pace.add(6, 102.05, replayed=False)
    pace.add(7, 104.05, replayed=False)
    assert pace.seconds(10) == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, "0:00"), (59.6, "1:00"), (754, "12:34"), (3725, "1:02:05")]
)
def test_time_left(rendered, seconds, shown):
    display = LiveDisplay()
    display.standing(NOW)
    display._pace.add(0, 0.0, replayed=False)
    display._pace.add(60, seconds, replayed=False)
    assert rendered(display).rstrip().endswith(f"time left {shown}")


def test_a_generation_that_cost_and_found_nothing_is_not_told_again(capsys):
    display = PlainDisplay()
    for generation in (3, 4, 5):
        display.standing(dataclasses.replace(NOW, generation=generation))
    display.standing(dataclasses.replace(NOW, generation=6, spent=20.2))
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in shown] == ["3", "6"]
