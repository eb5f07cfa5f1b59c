"""The proposer of settings: legal, new, led by what was observed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.optimize.base import Proposal
from evolve.optimize.constraints import Constraints
from evolve.optimize.search import MOST_CHANGED, STARTUP_TRIALS, SearchProposer
from policies.policy import seed_policy
from policies.settings import applicable

AWE, RAG, NATIVE = (seed_policy(name) for name in ("awe", "rag", "native"))


def suggestions(parent, context_for, count: int, proposer=None):
    proposer = proposer or SearchProposer()
    return [proposer.propose(context_for(parent, seed)).settings for seed in range(count)]


@pytest.mark.parametrize("parent", [AWE, RAG, NATIVE], ids=lambda p: p.architecture)
def test_every_setting_is_searched_over_all_of_its_range(parent, context_for) -> None:
    made = suggestions(parent, context_for, 200)
    assert all(0 < len(settings) <= MOST_CHANGED for settings in made)
    for setting in applicable(parent.architecture):
        drawn = [s[setting.name] for s in made if setting.name in s]
        assert drawn
        assert all(setting.accepts(value) for value in drawn)
        if setting.values:
            assert set(drawn) == set(setting.values) - {parent.settings[setting.name]}
        else:
            span = setting.high - setting.low
            numbers = [value for value in drawn if value is not None]
            assert min(numbers) <= setting.low + span / 10
            assert max(numbers) >= setting.high - span / 4


def test_an_optional_number_can_be_set_and_unset(context_for) -> None:
    half = AWE.derive(settings={"recency_half_life": 8})
    drawn = [s.get("recency_half_life", 8) for s in suggestions(half, context_for, 60)]
    assert None in drawn
    assert any(value not in {None, 8} for value in drawn)


def test_an_architecture_without_settings_gets_an_empty_proposal(context_for) -> None:
    assert SearchProposer().propose(context_for(seed_policy("none"))) == Proposal("search")


def test_known_settings_are_not_proposed_again(context_for, verdict_on, monkeypatch) -> None:
    from policies.settings import Setting

    small = Setting("supersede", frozenset({"awe"}), False, "", values=(False, True))
    monkeypatch.setattr("evolve.optimize.constraints.applicable", lambda architecture: (small,))
    parent = AWE.derive()
    object.__setattr__(parent, "settings", {"supersede": False})
    proposer = SearchProposer()
    assert proposer.propose(context_for(parent)).settings == {"supersede": True}
    tried = AWE.derive()
    object.__setattr__(tried, "settings", {"supersede": True})
    proposer.observe(verdict_on(tried, parent, "search", -0.1))
    assert proposer.propose(context_for(parent)) == Proposal("search")


def test_no_memory_over_the_limit_is_drawn(context_for) -> None:
    limits = Constraints(memory_tokens=1000)
    parent, proposer = limits.fitted(AWE), SearchProposer()
    contexts = (replace(context_for(parent, n), constraints=limits) for n in range(100))
    drawn = [proposer.propose(context).settings for context in contexts]
    sizes = [s["max_memory_tokens"] for s in drawn if "max_memory_tokens" in s]
    assert sizes
    assert max(sizes) < 1000


def test_a_parent_over_the_limit_of_tokens_may_change_in_many_settings(context_for) -> None:
    limits, proposer = Constraints(answer_tokens=500), SearchProposer()
    contexts = [replace(context_for(AWE, n), constraints=limits) for n in range(20)]  # 900 tokens
    assert max(len(proposer.propose(context).settings) for context in contexts) > MOST_CHANGED


def test_the_search_is_drawn_below_the_limit_of_tokens(context_for, verdict_on) -> None:
    """Where many entries gain but are over the limit, fewer are suggested than without one."""
    proposer = SearchProposer()
    for step in range(30):
        top_k = 1 + (step * 17) % 50
        candidate = AWE.derive(settings={"top_k": top_k})
        gain, tokens = top_k / 100, 400.0 + 20 * top_k
        proposer.observe(verdict_on(candidate, AWE, "search", gain, tokens_per_answer=tokens))

    def mean(limits: Constraints) -> float:
        contexts = [replace(context_for(AWE, n), constraints=limits) for n in range(60)]
        drawn = [proposer.propose(context).settings.get("top_k") for context in contexts]
        numbers = [value for value in drawn if value is not None]
        return sum(numbers) / len(numbers)

    assert mean(Constraints(answer_tokens=901)) < mean(Constraints()) - 5


def told(proposer: SearchProposer, context) -> list[tuple[float, float]]:
    found = proposer._told(context, applicable(context.parent.architecture))
    return [(round(one.difference, 6), one.tokens) for one in found]


class TestTold:
    def test_the_parent_comes_first_with_its_tokens(self, context_for) -> None:
        assert told(SearchProposer(), context_for(AWE)) == [(0.0, 900.0)]

    def test_only_scored_candidates_that_searched(self, context_for, verdict_on) -> None:
        proposer, other = SearchProposer(), AWE.derive(settings={"top_k": 20})
        proposer.observe(verdict_on(other, AWE, "rewrite:memory_types"))
        proposer.observe(verdict_on(other, AWE, "search", None, stage="failed"))
        proposer.observe(verdict_on(RAG, AWE, "search", 0.3))
        proposer.observe(verdict_on(other, AWE, "placebo:memory_types+search", -0.02))
        assert told(proposer, context_for(AWE)) == [(0.0, 900.0), (-0.02, 800.0)]

    def test_differences_add_up_over_parents(self, context_for, verdict_on) -> None:
        better = AWE.derive(settings={"top_k": 20})
        worse = AWE.derive(settings={"top_k": 3})
        best = better.derive(settings={"supersede": True})
        proposer = SearchProposer()
        proposer.observe(verdict_on(worse, AWE, "search", -0.04))
        proposer.observe(verdict_on(better, AWE, "search", 0.1, accepted=True, stage="gate"))
        proposer.observe(verdict_on(best, better, "search", 0.05))
        assert told(proposer, context_for(better)) == [(0.0, 800.0), (-0.14, 800.0), (0.05, 800.0)]


def test_learns_from_what_it_is_told(context_for, verdict_on) -> None:
    """Once fewer retrieved entries were seen to be better, fewer are suggested than by chance."""

    def mean_top_k(gain) -> float:
        proposer = SearchProposer()
        for step in range(30):
            candidate = AWE.derive(settings={"top_k": 1 + (step * 17) % 50})
            proposer.observe(
                verdict_on(candidate, AWE, "search", gain(candidate.settings["top_k"]))
            )
        drawn = [s["top_k"] for s in suggestions(AWE, context_for, 60, proposer) if "top_k" in s]
        return sum(drawn) / len(drawn)

    few, many = mean_top_k(lambda k: (25 - k) / 100), mean_top_k(lambda k: (k - 25) / 100)
    assert few < 17
    assert many > 33


def test_chance_rules_the_first_trials(context_for, verdict_on) -> None:
    """Before the start-up trials are told, what they say changes nothing."""
    told_one, told_other = SearchProposer(), SearchProposer()
    for step in range(STARTUP_TRIALS - 2):
        candidate = AWE.derive(settings={"top_k": 20 + step})
        told_one.observe(verdict_on(candidate, AWE, "search", 0.2))
        told_other.observe(verdict_on(candidate, AWE, "search", -0.2))
    ones, others = (suggestions(AWE, context_for, 10, p) for p in (told_one, told_other))
    assert ones == others


def test_optuna_says_nothing(context_for, capfd) -> None:
    SearchProposer().propose(context_for(AWE))
    assert capfd.readouterr() == ("", "")
