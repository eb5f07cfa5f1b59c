"""A small file in LoCoMo's layout, made up for tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TURNS = (
    (
        ("Ann", "I bought a kayak last week. It is red."),
        ("Bob", "Lovely! My cat broke a vase."),
        ("Bob", "She is sorry."),
    ),
    (
        ("Bob", "I paint landscapes now."),
        ("Ann", "My kayak sank in the storm."),
        ("Ann", "Look at this lighthouse."),
    ),
)
QUESTIONS = (
    ("What did Ann buy, and what became of it?", "a kayak, it sank", ["D1:1", "D2:2"], 1),
    ("Which kayak did Ann say she bought last week?", "1 May 2023", ["D1:1"], 2),
    ("Would Bob like a museum?", "yes; he paints", ["D2:1"], 3),
    ("How many vases did the cat break?", 1, ["D1:2; D1:03"], 4),
    ("What did Bob buy?", None, ["D1:1"], 5),
    ("Who is sorry?", "the cat", ["D"], 4),
)


def dialogue(name: str) -> dict[str, Any]:
    talk: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Bob"}
    for number, turns in enumerate(TURNS, 1):
        talk[f"session_{number}_date_time"] = f"1:0{number} pm on {7 + number} May, 2023"
        talk[f"session_{number}"] = [
            {"speaker": speaker, "dia_id": f"D{number}:{place}", "text": text}
            for place, (speaker, text) in enumerate(turns, 1)
        ]
    talk["session_2"][2]["blip_caption"] = "a white tower"
    talk["session_3_date_time"] = "a session that the file does not hold"
    asked = []
    for text, answer, evidence, category in QUESTIONS:
        one = {"question": text, "evidence": evidence, "category": category}
        asked.append(one | ({} if answer is None else {"answer": answer}))
    return {"sample_id": name, "conversation": talk, "qa": asked}


def long_dialogue(name: str, parts: int) -> dict[str, Any]:
    """The same talk over and over, its questions asked of every part."""
    one = dialogue(name)
    talk = {key: one["conversation"][key] for key in ("speaker_a", "speaker_b")}
    asked = []
    for part in range(parts):
        for number in (1, 2):
            moved, said = number + 2 * part, one["conversation"][f"session_{number}"]
            talk[f"session_{moved}_date_time"] = (
                f"1:0{number} pm on {7 + number} May, {2000 + part}"
            )
            talk[f"session_{moved}"] = [
                {**turn, "dia_id": f"D{moved}:{place}"} for place, turn in enumerate(said, 1)
            ]
        for question in one["qa"]:
            evidence = [_moved(found, 2 * part) for found in question["evidence"]]
            asked.append({**question, "evidence": evidence})
    return {"sample_id": name, "conversation": talk, "qa": asked}


def _moved(evidence: str, sessions: int) -> str:
    return re.sub(r"D(\d)", lambda found: f"D{int(found[1]) + sessions}", evidence)


@pytest.fixture
def content() -> list[dict[str, Any]]:
    """A file of two dialogues, parsed."""
    return [dialogue("one"), dialogue("two")]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[object], Path]:
    """Writes a parsed file."""

    def to_file(content: object) -> Path:
        import json

        path = tmp_path / "locomo.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return to_file
