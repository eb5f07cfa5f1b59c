"""Limits of a run: what is cut, what is made to fit, what is over."""

from __future__ import annotations

import pytest

from evolve.optimize.constraints import Constraints
from policies.errors import ConfigError
from policies.policy import seed_policy
from policies.settings import applicable

AWE, NATIVE = seed_policy("awe"), seed_policy("native")


def test_without_limits_nothing_changes() -> None:
    free = Constraints()
    assert free.settings_of("awe") == applicable("awe")
    assert free.fitted(AWE) is AWE
    assert free.too_large(AWE.settings) is None
    assert free.too_dear(1e9) is None


def test_memory_is_not_searched_over_its_limit() -> None:
    high = {s.name: s.high for s in Constraints(memory_tokens=1500).settings_of("awe")}
    assert high["max_memory_tokens"] == 1500
    assert high["top_k"] == 50
    (history,) = Constraints(memory_tokens=1500).settings_of("native")
    assert (history.low, history.high) == (1000, 1500)


def test_a_policy_is_made_to_fit_and_one_that_fits_stays() -> None:
    limits = Constraints(memory_tokens=1500)
    fitted = limits.fitted(AWE)
    assert fitted.settings == {**AWE.settings, "max_memory_tokens": 1500}
    assert fitted.lineage.parents == (AWE.id,)
    assert limits.fitted(fitted) is fitted
    assert limits.fitted(NATIVE).settings == {"context_tokens": 1500}
    assert limits.fitted(seed_policy("none")).settings == {}


def test_a_memory_that_cannot_be_so_small_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"native has 1000 tokens or more, .* is 999; give"):
        Constraints(memory_tokens=999).fitted(NATIVE)


def test_a_memory_that_knows_no_limit_is_refused_one() -> None:
    with pytest.raises(ConfigError, match=r"mem0 keeps all that .* --max-memory-tokens is 900;"):
        Constraints(memory_tokens=900).fitted(seed_policy("mem0"))
    assert Constraints(answer_tokens=900).fitted(seed_policy("mem0")) == seed_policy("mem0")


def test_a_step_towards_a_limit_is_a_clear_one() -> None:
    limits = Constraints(answer_tokens=1000)
    assert limits.nearer(1160, than=1200)
    assert not limits.nearer(1161, than=1200)
    assert not limits.nearer(1200, than=1200)


def test_why_something_is_over_a_limit() -> None:
    limits = Constraints(1500, 800)
    assert limits.too_large(AWE.settings) == (
        "max_memory_tokens 2000 is over the limit of 1500 tokens of memory"
    )
    assert limits.too_dear(800.4) == "800 tokens per answer are over the limit of 800"
    assert limits.too_dear(800.0) is None
    assert limits.too_dear(None) is None
