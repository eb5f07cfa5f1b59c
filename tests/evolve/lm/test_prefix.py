"""The share of prompts that was sent before."""

from __future__ import annotations

import pytest

from evolve.lm import prefix
from evolve.lm.base import Message
from evolve.lm.prefix import BLOCK, Prefixes

SYSTEM = Message("system", "s" * (10 * BLOCK))


def test_a_prompt_counts_as_far_as_it_was_sent_before() -> None:
    prefixes = Prefixes()
    prefixes.sent("m", "reply", [SYSTEM, Message("user", "a" * (10 * BLOCK))])
    assert prefixes.shares() == {"reply": 0.0}
    prefixes.sent("m", "reply", [SYSTEM, Message("user", "b" * (10 * BLOCK))])
    assert prefixes.shares()["reply"] == pytest.approx(0.25, abs=0.01)
    prefixes.sent("m", "answer", [SYSTEM])
    assert prefixes.shares()["answer"] == pytest.approx(1, abs=0.1)


def test_what_follows_a_change_does_not_count() -> None:
    prefixes = Prefixes()
    prefixes.sent("m", "reply", [SYSTEM])
    prefixes.sent("m", "write", [Message("system", "x" + "s" * (10 * BLOCK - 1))])
    assert prefixes.shares()["write"] == 0


def test_models_share_no_cache() -> None:
    prefixes = Prefixes()
    prefixes.sent("m", "reply", [SYSTEM])
    prefixes.sent("n", "write", [SYSTEM])
    assert prefixes.shares()["write"] == 0


def test_what_was_sent_long_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix, "_REMEMBERED", 20)
    prefixes = Prefixes()
    for number in range(9):
        prefixes.sent("m", "reply", [Message("user", f"{number}" * (10 * BLOCK))])
    prefixes.sent("m", "write", [Message("user", "0" * (10 * BLOCK))])
    assert prefixes.shares()["write"] == 0
    prefixes.sent("m", "write", [Message("user", "8" * (10 * BLOCK))])
    assert prefixes.shares()["write"] > 0.4
