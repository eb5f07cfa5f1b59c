"""Candidates that are behind are stopped by Optuna's pruner, with its own defaults."""

from evolve.optimize.pruning import is_behind

BEST = {f"u{n}": 0.5 for n in range(24)}


def of(*accuracies):
    return {f"u{n}": accuracy for n, accuracy in enumerate(accuracies)}


def test_one_that_is_behind_everywhere_is_stopped():
    assert is_behind(of(0.4, 0.3, 0.4, 0.2), BEST)


def test_one_that_is_ahead_or_equal_goes_on():
    assert not is_behind(of(0.6, 0.7, 0.6, 0.5), BEST)
    assert not is_behind(of(0.5, 0.5, 0.5, 0.5), BEST)


def test_little_says_nothing():
    assert not is_behind({}, BEST)
    assert not is_behind(of(0.1), BEST)


def test_one_that_is_behind_here_and_there_goes_on():
    assert not is_behind(of(0.4, 0.9, 0.3, 0.6), BEST)


def test_clusters_that_only_one_of_them_has_are_left_out():
    assert not is_behind({"other": 0.0, "another": 0.0}, BEST)
