from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.locomo.dialogues import Dialogue, OpenQuestion, Session, Turn
from evolve.locomo.retrieval import Finder, Found
from evolve.locomo.tuning import (
    SPACE,
    Trial,
    choose,
    front,
    gain_interval,
    judge,
    measure,
    propose,
    split,
)
from policies.errors import ConfigError
from policies.policy import seed_policy


def _trial(recall, precision, tokens, top_k=10):
    settings = {setting.name: setting.default for setting in SPACE} | {"top_k": top_k}
    return Trial(settings, recall, precision, tokens)


def _found(dialogue, *recalls):
    return [Found(dialogue, n, 4, recall, 0.1, 100) for n, recall in enumerate(recalls)]


def test_the_split_needs_three_dialogues_and_does_not_depend_on_their_order():
    turn = Turn("D1:1", "Ann", "Hello")
    question = OpenQuestion("Who?", "Ann", 4, ("D1:1",))
    one = Dialogue("0", ("Ann", "Bob"), (Session("noon", (turn,)),), (question,))
    seven = [replace(one, id=str(number)) for number in range(7)]
    parts = split(seven, 3)
    assert [len(part) for part in (parts.train, parts.gate, parts.test)] == [3, 2, 2]
    assert split(seven[::-1], 3) == parts
    assert len({d.id for part in (parts.train, parts.gate, parts.test) for d in part}) == 7
    with pytest.raises(ConfigError, match="3 at least, but the file has 2"):
        split(seven[:2], 3)


def test_the_choice_has_the_highest_recall_within_the_limit():
    trials = [_trial(0.4, 0.1, 500), _trial(0.6, 0.05, 900), _trial(0.9, 0.01, 9000)]
    assert choose(trials, 1000) is trials[1]
    assert choose(trials, 100) is trials[0]


def test_the_front_holds_what_no_other_beats():
    trials = [_trial(0.4, 0.1, 1), _trial(0.3, 0.05, 1), _trial(0.6, 0.05, 1), _trial(0.6, 0.02, 1)]
    assert front(trials) == (trials[0], trials[2])


def test_proposals_are_new_allowed_and_depend_on_what_was_tried_alone():
    trials = [_trial(0.4, 0.1, 500)]
    for number in range(25):
        drawn = propose(trials, 2000, number)
        assert drawn == propose(trials, 2000, number)
        assert list(drawn) == [setting.name for setting in SPACE]
        assert all(setting.accepts(drawn[setting.name]) for setting in SPACE)
        assert drawn not in [trial.settings for trial in trials]
        trials.append(Trial(drawn, 0.01 * number, 0.1, 400))


def test_the_gate_accepts_what_all_dialogues_gain_from_and_nothing_less():
    seed = _found("a", 0, 0, 1) + _found("b", 0, 1, 0) + _found("c", 1, 0, 0)
    better = _found("a", 1, 0, 1) + _found("b", 1, 1, 0) + _found("c", 1, 1, 0)
    verdict = judge(better, seed)
    assert verdict.accepted
    assert verdict.difference == pytest.approx(1 / 3)
    assert not judge(seed, seed).accepted
    mixed = _found("a", 1, 1, 1) + _found("b", 0, 0, 0) + _found("c", 1, 0, 0)
    assert not judge(mixed, seed).accepted
    assert not judge(seed, better).accepted


def test_a_gain_is_told_over_dialogues():
    seed = _found("a", 0, 0) + _found("b", 0, 1)
    best = _found("a", 1, 0) + _found("b", 1, 1)
    interval = gain_interval(best, seed, 0, "recall")
    assert interval.mean == pytest.approx(0.5)
    assert interval.n == 2


def test_the_search_finds_the_evidence_that_the_seed_misses(content):
    from evolve.locomo.reading import dialogues_of

    finder = Finder(dialogues_of(content, "f"))
    seed = dict(seed_policy("rag").settings) | {"top_k": 1}
    trials = [measure(finder, seed)]
    while len(trials) < 15:
        trials.append(measure(finder, propose(trials, 1000, len(trials))))
    assert choose(trials, 1000).recall > trials[0].recall
