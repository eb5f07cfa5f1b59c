"""The proposer of settings: legal, new, led by what was observed."""

from __future__ import annotations

import pytest

from evolve.optimize.base import Proposal
from evolve.optimize.constraints import NO_LIMITS, Constraints
from evolve.optimize.search import JUMPS, MOST_CHANGED, STARTUP_TRIALS, SearchProposer
from policies.policy import seed_policy
from policies.settings import applicable

ORDER = [1 + (step * 17) % 50 for step in range(30)]  # values of top_k
AWE, RAG, NATIVE = (seed_policy(name) for name in ("awe", "rag", "native"))


def suggestions(parent, context_for, count: int, tried=(), limits=NO_LIMITS):
    contexts = (
        context_for(parent, seed, tried=tuple(tried), constraints=limits) for seed in range(count)
    )
    return [SearchProposer().propose(context).settings for context in contexts]


@pytest.mark.parametrize("parent", [AWE, RAG, NATIVE], ids=lambda p: p.architecture)
def test_every_setting_is_searched_over_all_of_its_range(parent, context_for) -> None:
    made = suggestions(parent, context_for, 200)
    sizes = [len(settings) for settings in made]
    few = sum(size <= MOST_CHANGED for size in sizes) / len(sizes)
    assert 1 - JUMPS - 0.1 < few < 1 or parent == NATIVE
    assert 0 < min(sizes) <= max(sizes) <= len(applicable(parent.architecture))
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


def test_known_settings_are_proposed_again_with_another_text_alone(
    context_for, tried_on, monkeypatch
) -> None:
    from policies.settings import Setting

    small = Setting("supersede", frozenset({"awe"}), False, "", values=(False, True))
    monkeypatch.setattr("evolve.optimize.constraints.applicable", lambda architecture: (small,))
    parent = AWE.derive()
    object.__setattr__(parent, "settings", {"supersede": False})
    assert SearchProposer().propose(context_for(parent)).settings == {"supersede": True}
    tried = AWE.derive()
    object.__setattr__(tried, "settings", {"supersede": True})
    before = (tried_on(tried, parent, "search", -0.1),)
    assert SearchProposer().propose(context_for(parent, tried=before)) == Proposal("search")
    object.__setattr__(parent, "texts", {**parent.texts, "reply_prompt": "Other {{memories}}"})
    again = SearchProposer().propose(context_for(parent, tried=before))
    assert again.settings == {"supersede": True}


def test_no_memory_over_the_limit_is_drawn(context_for) -> None:
    limits = Constraints(memory_tokens=1000)
    drawn = suggestions(limits.fitted(AWE), context_for, 100, limits=limits)
    sizes = [s["max_memory_tokens"] for s in drawn if "max_memory_tokens" in s]
    assert sizes
    assert max(sizes) < 1000


def test_a_parent_over_the_limit_of_tokens_may_change_in_many_settings(context_for) -> None:
    drawn = suggestions(AWE, context_for, 20, limits=Constraints(answer_tokens=500))  # 900 tokens
    assert max(map(len, drawn)) > MOST_CHANGED


def test_the_search_is_drawn_below_the_limit_of_tokens(context_for, tried_on) -> None:
    """Where many entries gain but are over the limit, fewer are suggested than without one."""
    tried = [
        tried_on(
            AWE.derive(settings={"top_k": k}), AWE, "search", k / 100,
            tokens_per_answer=400.0 + 20 * k,
        )
        for k in ORDER
    ]  # fmt: skip

    def mean(limits: Constraints) -> float:
        made = suggestions(AWE, context_for, 60, tried, limits)
        drawn = [s["top_k"] for s in made if "top_k" in s]
        return sum(drawn) / len(drawn)

    assert mean(Constraints(answer_tokens=901)) < mean(NO_LIMITS) - 5


def test_learns_from_what_it_is_told(context_for, tried_on) -> None:
    """Once fewer retrieved entries were seen to be better, fewer are suggested than by chance."""

    def mean_top_k(gain) -> float:
        tried = [tried_on(AWE.derive(settings={"top_k": k}), AWE, "search", gain(k)) for k in ORDER]
        drawn = [s["top_k"] for s in suggestions(AWE, context_for, 60, tried) if "top_k" in s]
        return sum(drawn) / len(drawn)

    few, many = mean_top_k(lambda k: (25 - k) / 100), mean_top_k(lambda k: (k - 25) / 100)
    assert few < 17
    assert many > 33


def test_learns_of_shared_settings_from_other_architectures(context_for, tried_on) -> None:
    tried = [
        tried_on(RAG.derive(settings={"top_k": k}), AWE, "move:rag+search", (25 - k) / 100)
        for k in ORDER
    ]
    drawn = [s["top_k"] for s in suggestions(AWE, context_for, 60, tried) if "top_k" in s]
    assert sum(drawn) / len(drawn) < 17


def test_chance_rules_the_first_trials(context_for, tried_on) -> None:
    """Before the start-up trials are told, what they say changes nothing."""
    few = [AWE.derive(settings={"top_k": 20 + step}) for step in range(STARTUP_TRIALS - 2)]
    ones, others = (
        suggestions(AWE, context_for, 10, [tried_on(one, AWE, "search", gain) for one in few])
        for gain in (0.2, -0.2)
    )
    assert ones == others


def test_optuna_says_nothing(context_for, capfd) -> None:
    SearchProposer().propose(context_for(AWE))
    assert capfd.readouterr() == ("", "")
