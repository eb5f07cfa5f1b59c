"""Strategies by name: what they change, what they need, and that they draw apart."""

from __future__ import annotations

import subprocess
import sys

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import RejectedRewriteError
from evolve.optimize.strategy import STRATEGIES, check_strategy, make_proposer
from policies.errors import ConfigError
from policies.policy import seed_policy

AWE = seed_policy("awe")


def made(name, rules, context_for, verdict_on, count=40, parent=AWE):
    """Proposals of a run that is under way, without those that a rule rejected."""
    last = verdict_on(parent, parent, "search")
    found = []
    for seed in range(count):
        proposer = make_proposer(name, OfflineLM(), rules, 3)
        proposer.observe(last)
        try:
            found.append(proposer.propose(context_for(parent, seed, last=last)))
        except RejectedRewriteError as error:
            found.append(error.proposal)
    return found


@pytest.mark.parametrize(
    ("name", "texts", "settings"),
    [
        ("joint", True, True),
        ("placebo", True, True),
        ("search-only", False, True),
        ("rewrite-only", True, False),
        ("random", True, True),
        ("sequential", True, False),
        ("diagnose-and-set", False, True),
    ],
)
def test_what_each_changes(name, texts, settings, rules, context_for, verdict_on) -> None:
    proposals = made(name, rules, context_for, verdict_on)
    assert (any(p.texts for p in proposals), any(p.settings for p in proposals)) == (
        texts,
        settings,
    )


def test_no_two_draw_the_same_numbers(rules, context_for, verdict_on) -> None:
    joint = made("joint", rules, context_for, verdict_on, 20)
    sham = made("placebo", rules, context_for, verdict_on, 20)
    assert [p.settings for p in joint] != [p.settings for p in sham]


@pytest.mark.parametrize("name", ["greedy", ""])
def test_an_unknown_strategy_is_refused(rules, name) -> None:
    with pytest.raises(ConfigError, match=f"one of joint, placebo.*, but is {name!r}; name"):
        make_proposer(name, OfflineLM(), rules, 0)


@pytest.mark.parametrize(
    ("name", "architecture", "message"),
    [
        ("placebo", "rag", r"the text memory_types \(awe, awi, mem0\), not rag; choose"),
        ("search-only", "none", r"settings \(native, rag, awe, awi, mem0\), not none; choose"),
    ],
)
def test_a_policy_without_what_it_needs_is_refused(name, architecture, message) -> None:
    with pytest.raises(ConfigError, match=message):
        check_strategy(name, architecture)
    check_strategy(name, "awe")
    check_strategy("joint", architecture)


def test_each_says_in_a_line_what_it_does() -> None:
    assert all(
        strategy.meaning and "\n" not in strategy.meaning for strategy in STRATEGIES.values()
    )
    assert all(name == one.name for name, one in STRATEGIES.items())


def test_naming_them_costs_no_proposer() -> None:
    code = "import sys, evolve.optimize.strategy; print('evolve.optimize.joint' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_none_knows_what_users_are_made_of() -> None:
    """Proposing loads neither the stand-in's lexicon nor a bank of the generator's phrases."""
    code = """
import sys
from evolve.lm.offline import OfflineLM
from evolve.optimize.base import ProposalContext, RejectedRewriteError
from evolve.optimize.strategy import STRATEGIES, make_proposer
from feedback.digest import Feedback
from policies.policy import seed_policy
from policies.text_rules import RewriteRules

parent, rules = seed_policy("awe"), RewriteRules.build([], [])
texts = dict.fromkeys(parent.texts, "### tea_kind: 3 of 9 answers wrong (unwritten 3)")
feedback = Feedback(parent.id, {}, (), dict.fromkeys(texts, 0.25), texts, "")
for name in [name for name, strategy in STRATEGIES.items() if strategy.make]:
    proposer = make_proposer(name, OfflineLM(), rules, 0)
    for seed in range(6):
        try:
            proposer.propose(ProposalContext(parent, (parent,), feedback, None, seed))
        except RejectedRewriteError:
            pass
loaded = [name for name in sys.modules if "lexicon" in name or "sample" in name.split(".")[-1]]
print([name for name in loaded if name.startswith("evolve.")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
