from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from policies.policy import ARCHITECTURES, seed_policy
from policies.words import occurrences, phrases, words

BANKS = Path(__file__).parents[2] / "evolve" / "gym" / "banks"


def test_agentic_seeds_start_from_six_generic_types_with_room_to_grow() -> None:
    bullets = seed_policy("awe").texts["memory_types"].splitlines()
    assert len(bullets) == 6
    for bullet in bullets:
        assert bullet.startswith("- ")
        assert ": " in bullet
        assert 80 <= len(bullet) <= 110
    assert seed_policy("awi").texts["memory_types"].splitlines() == bullets


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_seeds_know_nothing_of_the_sample_environment(architecture: str) -> None:
    domains = yaml.safe_load((BANKS / "schema.yaml").read_text(encoding="utf-8")).values()
    states = {state: values for domain in domains for state, values in domain.items()}
    known = phrases([*states, *(value for values in states.values() for value in values)])
    for text in seed_policy(architecture).texts.values():
        cut = words(text)
        assert [cut[start:end] for start, end in occurrences(cut, known)] == []


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_seeds_leave_to_evolution_what_it_can_find(architecture: str) -> None:
    hints = phrases(["newest", "newer", "latest", "most recent", "up to date", "ask", "question"])
    for text in seed_policy(architecture).texts.values():
        assert list(occurrences(words(text), hints)) == []


@pytest.mark.parametrize("architecture", ["awe", "awi"])
def test_write_prompt_shows_what_never_changes_first(architecture: str) -> None:
    prompt = seed_policy(architecture).texts["write_prompt"]
    parts = ["JSON object", "{{memory_types}}", "{{memories}}", "{{conversation}}"]
    places = [prompt.index(part) for part in parts]
    assert places == sorted(places)


def test_seed_settings() -> None:
    awe, awi, rag, native = (seed_policy(name).settings for name in ("awe", "awi", "rag", "native"))
    assert (awe["write_every"], awe["top_k"], awe["supersede"]) == (4, 10, False)
    assert (awe["memory_order"], awe["recency_half_life"]) == ("relevance", None)
    assert (awi["write_every"], awi["local_window"], awi["max_memory_tokens"]) == (4, 4, 2000)
    assert (rag["write_every"], rag["top_k"], rag["granularity"]) == (2, 10, "message")
    assert native == {"context_tokens": 8000}
