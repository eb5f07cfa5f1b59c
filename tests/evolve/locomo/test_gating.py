from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.journal import Journal
from evolve.locomo.gating import LOOKS, Gate
from evolve.locomo.retrieval import Found
from evolve.locomo.tuned_end import end
from evolve.locomo.tuning import SPACE, Parts, Trial
from policies.policy import Lineage, seed_policy

SEED = seed_policy("rag")
LINEAGE = Lineage((SEED.id,), 1, "search:evidence", None, "r", "e")


class Sized:
    """Finds all of the evidence in two dialogues, at so many tokens for each entry shown."""

    def __init__(self, each):
        self._each = each

    def find(self, settings):
        size, right = settings["top_k"] * self._each, float(settings["top_k"] != 10)
        return tuple(Found(str(n % 2), n, 4, right, 0.1, size) for n in range(40))


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "run", {"run": "r"}, resume=False) as journal:
        yield journal


def trial(top_k, recall):
    settings = {setting.name: SEED.settings[setting.name] for setting in SPACE}
    return Trial(settings | {"top_k": top_k}, recall, 0.1, 10.0 * top_k)


TRIALS = [trial(10, 0.1), trial(40, 0.9), trial(30, 0.8), trial(20, 0.7)]


def looks(journal, each):
    return Gate(Sized(each), SEED, TRIALS, 400).looks(LINEAGE, journal)


def test_what_shows_too_much_on_other_dialogues_gives_way(journal):
    first, second = looks(journal, 13)
    assert first.policy.settings["top_k"] == 40
    assert (first.verdict.accepted, first.verdict.stage) == (False, "tokens")
    assert "shows 520 tokens on the gate's dialogues, where at most 400" in first.verdict.reason
    assert second.policy.settings["top_k"] == 30  # 390 tokens there
    assert (second.verdict.accepted, second.verdict.stage) == (True, "gate")


def test_what_keeps_the_limit_is_judged_at_once(journal):
    (only,) = looks(journal, 10)
    assert (only.policy.settings["top_k"], only.verdict.accepted) == (40, True)


def test_looks_come_to_an_end(journal):
    found = looks(journal, 10_000)
    assert len(found) <= LOOKS
    assert not any(look.verdict.accepted for look in found)


def test_that_the_limit_does_not_hold_on_test_dialogues_is_said(content):
    from evolve.locomo.reading import dialogues_of

    one, two = dialogues_of(content, "f")
    best = SEED.derive(settings={"top_k": 2})
    ended = end(Parts((one,), (one,), (one, two)), SEED, best, 5, 0)
    assert "the limit of 5 tokens shown does not hold on the test dialogues" in ended.lines[1]
    assert ended.sizes["test"][1] > 5
    assert "holds" in replace(ended, limit=10_000).lines[1]
