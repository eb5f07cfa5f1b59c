"""What a run's files say at its end, as tables."""

from math import inf

import pytest

from evolve.results.outcome_tables import (
    kept_interval,
    memory_gain_table,
    options_table,
    packages_table,
    spent_table,
    test_table,
)
from evolve.results.run_record import read_run
from evolve.stats import Interval

test_table.__test__ = False  # it is no test


@pytest.fixture(scope="module")
def record(made):
    return read_run(made / "runs" / "mine")


def test_the_policies_on_test_users(record):
    table = test_table(record.summary)
    assert [row[0] for row in table.rows] == ["seed", "best", "native", "none"]
    best = dict(zip(table.columns, table.rows[1], strict=True))
    assert best["policy"] == record.best.short_id
    assert best["accuracy"] == f"{record.summary['test']['best']['accuracy']:.3f}"
    assert table.rows[3][4] == "-"  # nobody probed none


def test_the_memory_gain(record):
    rows = memory_gain_table(record.summary).rows
    assert [row[0] for row in rows] == ["best less none", "best less native"]
    lead = record.summary["over_baselines"]["none"]["memory"]
    assert rows[0][2].startswith(f"{lead['mean']:+.2f} [")
    assert memory_gain_table({}).rows == ()


def test_what_was_spent(record):
    table = spent_table(record.summary)
    assert table.columns[-1] == "completion tokens"
    assert table.rows[-1][0] == "bound (outside the budget)"
    answer = next(row for row in table.rows if row[0] == "answer")
    assert answer[1] == f"{record.summary['usage']['answer']['calls']:,}"


def test_what_was_paid_stands_beside_it(record):
    spend = {"calls": 3, "cached": 1, "prompt_tokens": 2000, "completion_tokens": 9}
    paid = {"answer": {**spend, "dollars": 0.5}, "bound": {**spend, "dollars": None}}
    rows = {row[0]: row for row in spent_table({**record.summary, "paid": paid}).rows}
    assert rows["answer"] == ("answer", "3", "2,000", "9", "0.5000")
    assert rows["bound (outside the budget)"][-1] == "unpriced"
    assert rows["probe"][-1] == "0"


def test_the_configuration_leaves_out_what_was_not_asked_for(record):
    rows = dict(options_table(record).rows)
    assert rows["strategy"] == "self-evolution"
    assert rows["best policy"] == record.best.id
    assert "api_base" not in rows
    assert {"python", "optuna"} <= dict(packages_table().rows).keys()


def test_intervals_as_they_are_kept():
    data = {"mean": 0.1, "low": None, "high": None, "clusters": 1}
    assert kept_interval(data) == Interval(0.1, -inf, inf, 1)
    assert kept_interval(None) is None
    gain = {"memory": 0.1, "low": 0.0, "high": 0.2, "clusters": 3}
    assert kept_interval(gain, "memory") == Interval(0.1, 0.0, 0.2, 3)
