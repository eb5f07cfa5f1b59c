from __future__ import annotations

import pytest

from evolve.locomo.keeping import kept_line, kept_share
from evolve.locomo.reading import dialogues_of
from policies.policy import seed_policy


def test_all_is_kept_where_there_is_room(content):
    assert kept_share(seed_policy("rag"), dialogues_of(content, "f")) == 1


def test_a_tight_memory_keeps_the_newest_and_the_window(content):
    for dialogue in content:
        for turn in dialogue["conversation"]["session_1"]:
            turn["text"] += " and so on" * 60
    tight = seed_policy("rag").derive(settings={"local_window": 0, "max_memory_tokens": 200})
    dialogues = dialogues_of(content, "f")
    # Of five questions with evidence one rests on the second session, another in half.
    assert kept_share(tight, dialogues) == pytest.approx(1.5 / 5)
    assert "max_memory_tokens 200 memory would still hold 30%" in kept_line(tight, dialogues)
