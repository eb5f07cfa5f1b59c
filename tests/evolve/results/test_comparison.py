"""Several runs side by side."""

from dataclasses import replace

import pandas as pd
import pytest

from evolve.journal import FILE
from evolve.results.comparison import differing_options, ends, pairs, read_beside
from evolve.results.run_record import read_run


@pytest.fixture(scope="module")
def two(made, searched):
    return read_run(made / "runs" / "mine"), read_run(searched)


def test_runs_beside_a_run_are_read_and_others_told(run):
    (run.parent / "other").mkdir()
    (run.parent / "other" / FILE).write_text("no journal\n")
    records, unread = read_beside(run)
    assert [record.name for record in records] == ["mine"]
    assert len(unread) == 1
    assert unread[0].startswith("other: ")
    assert read_beside(run, most=1)[1] == []


def test_ends_are_those_of_the_summaries(two):
    frame = ends(two).set_index("run")
    for record in two:
        row = frame.loc[record.name]
        assert row["gain"] == record.summary["gain"]["memory"]
        assert row["memory_none"] == record.summary["test"]["none"]["memory"]
        assert row["strategy"] == record.options["strategy"]
    assert list(frame["accepted"]) == [len(record.versions) - 1 for record in two]


def test_a_run_that_goes_on_has_no_end_yet(two):
    frame = ends([replace(two[0], summary=None)])
    assert pd.isna(frame["gain"]).all()
    assert list(frame["run"]) == [two[0].name]


def test_best_versions_are_paired_on_the_test_users_of_both(two):
    frame = pairs(two)
    (row,) = [frame.loc[index] for index in frame.index]
    assert (row["run"], row["other"]) == (two[0].name, two[1].name)
    told = [record.summary["test"]["best"]["accuracy"] for record in two]
    assert row["accuracy"] == pytest.approx(told[0] - told[1])
    assert row["answers"] == two[0].summary["test"]["best"]["n"]
    assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]


def test_runs_of_other_users_are_not_paired(two):
    assert pairs([two[0], replace(two[1], users=None)]).empty
    other = tuple(replace(user, id=f"{user.id}-b") for user in two[1].users)
    assert pairs([two[0], replace(two[1], users=other)]).empty


def test_options_that_differ_are_named(two):
    frame = differing_options(two)
    assert list(frame["strategy"]) == ["self-evolution", "random"]
    assert "env" not in frame
