"""Paired differences of two policies, over clusters."""

from math import inf

import pytest

from evolve.gains import Lead, accuracy_gain, leads, memory_gain, shown_gain
from evolve.stats import Interval, mean_interval
from feedback.records import Diagnosis, Stage
from feedback.scores import score


def answers(rights, choices=4):
    """Ten answers per user, of which so many are right."""
    return [
        Diagnosis(user, 0, number, choices, Stage.RIGHT if number < right else Stage.READ)
        for user, right in rights.items()
        for number in range(10)
    ]


def user_of(diagnosis):
    return diagnosis.user


BEFORE = answers({"a": 3, "b": 5, "c": 4, "d": 2})
AFTER = answers({"a": 5, "b": 6, "c": 4, "d": 5})
BOUNDS = {(d.user, d.period, d.question): float(d.question < 9) for d in BEFORE}


def test_the_gain_is_the_difference_of_pooled_scores():
    memory = memory_gain(BEFORE, AFTER, BOUNDS, user_of, 0)
    accuracy = accuracy_gain(BEFORE, AFTER, user_of, 0)
    before, after = (score(some, BOUNDS) for some in (BEFORE, AFTER))
    assert memory.mean == pytest.approx(after.memory - before.memory)
    assert accuracy.mean == pytest.approx(after.accuracy - before.accuracy)
    assert memory.n == accuracy.n == 4
    assert memory.mean == pytest.approx(accuracy.mean / (0.9 - 0.25))
    assert memory.low < memory.mean < memory.high


def test_the_interval_is_that_of_the_users_differences():
    accuracy = accuracy_gain(BEFORE, AFTER, user_of, 0)
    expected = mean_interval([0.2, 0.1, 0.0, 0.3])
    assert accuracy.low == pytest.approx(expected.low, abs=0.02)
    assert accuracy.high == pytest.approx(expected.high, abs=0.02)


def test_other_clusters_give_other_intervals_of_the_same_gain():
    by_answer = accuracy_gain(BEFORE, AFTER, lambda d: f"{d.user}/{d.question}", 0)
    assert by_answer.n == 40
    assert by_answer.mean == pytest.approx(accuracy_gain(BEFORE, AFTER, user_of, 0).mean)


def test_a_cluster_that_one_side_lacks_is_left_out_on_both():
    part = [d for d in AFTER if d.user != "d"]
    accuracy = accuracy_gain(BEFORE, part, user_of, 0)
    assert (accuracy.n, accuracy.mean) == (3, pytest.approx(0.1))
    assert accuracy == accuracy_gain([d for d in BEFORE if d.user != "d"], AFTER, user_of, 0)


def test_equal_policies_differ_by_nothing():
    for gain in (
        memory_gain(AFTER, AFTER, BOUNDS, user_of, 0),
        accuracy_gain(AFTER, AFTER, user_of, 0),
    ):
        assert (gain.mean, gain.low, gain.high) == (0, 0, 0)


def test_one_cluster_gives_no_interval_and_none_no_gain():
    one = [d for d in BEFORE if d.user == "a"]
    gain = memory_gain(one, AFTER, BOUNDS, user_of, 0)
    assert (gain.low, gain.high) == (-inf, inf)
    assert memory_gain(one, [], BOUNDS, user_of, 0) is None
    assert accuracy_gain([], [], user_of, 0) is None


def test_a_bound_that_does_not_exceed_guessing_gives_no_memory_gain():
    assert memory_gain(BEFORE, AFTER, dict.fromkeys(BOUNDS, 0.0), user_of, 0) is None


def test_leads_are_paired_differences_to_each_baseline_that_shares_a_cluster():
    found = leads(AFTER, {"none": BEFORE, "other": answers({"z": 1})}, BOUNDS, user_of, 0)
    assert found == {
        "none": Lead(
            memory_gain(BEFORE, AFTER, BOUNDS, user_of, 0),
            accuracy_gain(BEFORE, AFTER, user_of, 0),
        )
    }


def test_a_lead_in_accuracy_is_known_where_that_in_memory_is_undefined():
    lead = leads(AFTER, {"none": BEFORE}, dict.fromkeys(BOUNDS, 0.0), user_of, 0)["none"]
    assert lead.memory is None
    assert lead.accuracy.mean == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("gain", "text"),
    [
        (None, "gain undefined"),
        (Interval(0.114, 0.04, 0.168, 9), "+0.11 [0.04, 0.17]"),
        (Interval(-0.1, -0.2, 0.0, 9), "-0.10 [-0.20, 0.00]"),
        (Interval(0.1, -inf, inf, 1), "+0.10 [no interval from one cluster]"),
    ],
)
def test_in_words(gain, text):
    assert shown_gain(gain) == text
