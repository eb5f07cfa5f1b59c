"""The stand-in's diagnosis: causes from the log, legal settings that act on them."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from evolve.lm.offline_settings import diagnosed
from policies.policy import seed_policy
from policies.settings import applicable, as_text


def fields(architecture="awe", log="", tried="Nothing was tried yet.", **changed) -> dict[str, str]:
    own = {**seed_policy(architecture).settings, **changed}
    lines = [
        f"- {s.name}: {as_text(own[s.name])}; {s.rule}; {s.meaning}"
        for s in applicable(architecture)
    ]
    return {"settings": "\n".join(lines), "tried": tried, "failure_log": log}


def table(**rows: float) -> str:
    return "\n".join(f"| {name} | {share:.3f} | what it means |" for name, share in rows.items())


def proposals(given, count=60) -> list[dict[str, object]]:
    return [json.loads(diagnosed(given, seed)["new_settings"]) for seed in range(count)]


@pytest.mark.parametrize("architecture", ["native", "rag", "awe", "awi"])
def test_every_value_is_allowed_and_new(architecture) -> None:
    known = {setting.name: setting for setting in applicable(architecture)}
    own = seed_policy(architecture).settings
    for made in proposals(fields(architecture)):
        assert all(known[name].accepts(value) for name, value in made.items())
        assert all(own[name] != value for name, value in made.items())
        assert len(made) <= 3


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (table(unwritten=0.5, competing_facts=4.0), "write_every"),
        (table(unretrieved=0.4), "top_k"),
        (table(lost=0.3), "max_memory_tokens"),
        (table(answers=100, unused=0.01, stale_in_context=60), "supersede"),
        (table(write=0.0, read=0.4), "top_k"),
    ],
)
def test_settings_act_on_what_the_log_shows(log, expected) -> None:
    changed = Counter(name for made in proposals(fields(log=log)) for name in made)
    assert changed[expected] >= 20


@pytest.mark.parametrize(("cause", "more"), [("unretrieved", True), ("misread", False)])
def test_they_go_the_way_that_helps(cause, more) -> None:
    drawn = [one["top_k"] for one in proposals(fields(log=table(**{cause: 0.4}))) if "top_k" in one]
    assert drawn
    assert all((value > 10) is more for value in drawn)


def test_what_was_tried_and_not_kept_is_not_proposed_again() -> None:
    tried = "- write_every 2: not kept (minibatch), worse"
    given = fields(log=table(corrupted=0.4), tried=tried)
    assert all("write_every" not in made for made in proposals(given))
    assert any("write_every" in made for made in proposals({**given, "tried": ""}))


def test_causes_are_named_worst_first() -> None:
    said = diagnosed(fields(log=table(lost=0.1, unretrieved=0.3, misread=0.05)), 1)["root_causes"]
    assert said == "Most of what fails is unretrieved and lost."


def test_a_setting_at_its_end_stays() -> None:
    given = fields(log=table(unretrieved=0.4), top_k=50, retriever="hybrid", recency_half_life=None)
    assert all(made.get("top_k") is None for made in proposals(given))
