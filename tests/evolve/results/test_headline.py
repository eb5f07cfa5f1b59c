"""The head of a report: what is said of a run at each of its stages."""

from dataclasses import replace

import pytest

from evolve.results.headline import headline_of
from evolve.results.run_record import read_run


@pytest.fixture(scope="module")
def record(made):
    return read_run(made / "runs" / "mine")


def with_gain(record, low, high):
    gain = {"memory": 0.1, "low": low, "high": high, "clusters": 4}
    return replace(record, summary={**record.summary, "gain": gain})


@pytest.mark.parametrize(
    ("low", "high", "said", "told"),
    [
        (0.05, 0.15, "remembers better", "+0.10 [0.05, 0.15]"),
        (-0.05, 0.25, "includes zero", "+0.10 [-0.05, 0.25]"),
        (-0.3, -0.1, "does worse", "+0.10 [-0.30, -0.10]"),
        (None, None, "includes zero", "+0.10 [no interval from one cluster]"),
    ],
)
def test_the_sentence_says_what_the_interval_allows(record, low, high, said, told):
    head = headline_of(with_gain(record, low, high))
    assert said in head.sentence
    assert (head.figures[0].name, head.figures[0].told) == ("Memory score", told)


def test_an_undefined_gain_is_said_to_be(record):
    undefined = replace(record, summary={**record.summary, "gain": None})
    assert "undefined" in headline_of(undefined).sentence


def test_the_memory_gain_over_the_baselines_is_among_the_figures(record):
    names = [figure.name for figure in headline_of(record).figures]
    assert names == [
        "Memory score",
        "Accuracy",
        "Memory gain over no memory",
        "Memory gain over the history in context",
        "Tokens per answer",
        "Spent",
    ]


def test_a_seed_that_stays(record):
    test = {**record.summary["test"], "best": record.summary["test"]["seed"]}
    head = headline_of(replace(record, summary={**record.summary, "test": test, "gain": None}))
    assert head.sentence.startswith("The seed stays")
    assert "→" not in head.figures[0].value


def test_what_could_not_be_compared(record):
    test = {"seed": record.summary["test"]["seed"]}
    head = headline_of(replace(record, summary={**record.summary, "test": test}))
    assert "cannot be compared" in head.sentence


def test_a_run_that_goes_on_has_no_scores(record):
    head = headline_of(replace(record, summary=None))
    assert "has not ended" in head.sentence
    assert [figure.name for figure in head.figures] == ["Candidates", "Accepted", "Rollouts"]


def test_users_with_policies_of_their_own(record):
    rates = {"memory": 0.2, "accuracy": 0.4}
    summary = {
        "scope": "user",
        "users": 3,
        "periods": {"all": {"fixed": rates, "learned": {**rates, "memory": 0.5}}},
        "gain": {"memory": 0.3, "low": 0.1, "high": 0.5, "clusters": 3},
        "spent": 6.0,
        "budget": 6,
    }
    head = headline_of(replace(record, summary=summary))
    assert head.sentence.startswith("Each of 3 users has a policy of its own")
    assert (head.figures[0].value, head.figures[0].told) == ("0.20 → 0.50", "+0.30 [0.10, 0.50]")


def test_a_search_by_evidence_tells_precision_and_the_limit(record):
    found = {"recall": 0.5, "precision": 0.1, "tokens": 500.0, "questions": 40}
    summary = {
        "evidence": {"seed": found, "best": {**found, "recall": 0.75, "tokens": 900.0}},
        "recall_gain": {"mean": 0.25, "low": 0.1, "high": 0.4, "clusters": 2},
        "precision_gain": {"mean": -0.01, "low": -0.02, "high": 0.0, "clusters": 2},
        "limit": 800,
        "trials": 9,
    }
    recall, precision, tokens, _ = headline_of(replace(record, summary=summary)).figures
    assert (recall.value, recall.told) == ("0.500 → 0.750", "+0.25 [0.10, 0.40]")
    assert precision.told == "-0.0100 [-0.0200, 0.0000]"
    assert (tokens.value, tokens.told) == ("500 → 900", "at most 800")
