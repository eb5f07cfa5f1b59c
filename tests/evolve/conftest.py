"""A tiny valid environment, and the files of a published run of it."""

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

Json = list[dict[str, object]]


def _period(day: int, drink: str, updates: dict[str, object]) -> dict[str, object]:
    return {
        "period_start": None if day == 1 else f"2024-01-{day:02d}",
        "period_end": f"2024-01-{day + 1:02d}",
        "period_summary": None,
        "sessions": [
            {
                "event": None,
                "exposed_states": {"drink": drink},
                "query": f"Which {drink} shop is near?",
                "messages": [],
                "session_time": f"2024-01-{day:02d} 09:00:00",
            },
            {"query": "What else?", "session_time": f"2024-01-{day + 1:02d} 09:00:00"},
        ],
        "state": {"drink": drink, "pet": "cat"},
        "updates": updates,
    }


def _user(user_id: str) -> dict[str, object]:
    return {
        "id": user_id,
        "start_time": "2024-01-01",
        "user_profile": {"uuid": user_id, "name": "Ann", "age": 40, "likes": ["tea", "cats"]},
        "state_schema": {"drink": ["tea", "coffee"], "pet": ["cat", "dog"]},
        "periods": [
            _period(1, "tea", {"drink": {"old": None, "new": "tea"}, "pet": {"new": "cat"}}),
            _period(11, "coffee", {"drink": {"old": "tea", "new": "coffee"}}),
            _period(21, "coffee", {}),
        ],
        "qas": [
            {
                "query": "What shall I drink with my pet?",
                "required_info": ["drink", "pet"],
                "answer_choices": [
                    {"state": ["tea", "cat"], "answer": "Tea, near the cat.", "type": "x"},
                    {"state": ["coffee", "cat"], "answer": "Coffee, near the cat."},
                    {"state": ["coffee", "dog"], "answer": "Coffee, near the dog."},
                ],
            },
            {
                "query": "Which cup?",
                "required_info": ["drink"],
                "answer_choices": [
                    {"state": ["tea"], "answer": "The thin one."},
                    {"state": ["coffee"], "answer": "The thick one."},
                ],
            },
        ],
    }


@pytest.fixture(scope="session")
def tiny() -> Callable[[], Json]:
    """Makes a fresh copy of a valid file's content: two users, three periods, two questions."""
    content = [_user("ann"), _user("bob")]
    return lambda: copy.deepcopy(content)


def _probe(user, period: int, question) -> dict[str, object]:
    state = user["periods"][period]["state"]
    return {
        "query": "which?",
        "raw_response": "{}",
        "results": [
            {
                "info_type": name,
                "json_error": False,
                "answer_state": state[name],
                "response_state": state[name],
                "score": 1.0,
            }
            for name in question["required_info"]
        ],
    }


def _answered(values: list[str], position: int) -> dict[str, object]:
    return {
        "answer": position,
        "answer_state": values,
        "raw_response": "{}",
        "response": position + 1,
        "response_state": values,
        "json_error": False,
        "scores": {"accuracy": 1.0},
    }


def _talk(period) -> list[list[dict[str, str]]]:
    return [
        [
            {"role": "user", "content": f"[Current Time: {s['session_time']}]\n{s['query']}"},
            {"role": "assistant", "content": "There is one."},
        ]
        for s in period["sessions"]
    ]


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def tiny_run(tmp_path, tiny) -> Path:
    """A folder with env.json, its run ``published`` and upper bounds; everything is right."""
    users = tiny()
    _write(tmp_path / "env.json", users)
    for user in users:
        folder = tmp_path / "runs" / "published" / user["id"]
        periods, questions = range(len(user["periods"])), user["qas"]
        right = [
            [[user["periods"][p]["state"][name] for name in q["required_info"]] for q in questions]
            for p in periods
        ]
        answers = [[_answered(values, 0) for values in row] for row in right]
        _write(folder / "overall_results.json", answers)
        probes = [[_probe(user, p, q) for q in questions] for p in periods]
        _write(folder / "diagnosis_results.json", probes)
        none, one = [[0] * len(questions)] * len(periods), [[1] * len(questions)] * len(periods)
        counts = {"write_failure": none, "read_failure": none, "memory_success": one}
        _write(folder / "diagnosis_metrics.json", counts)
        for p in periods:
            _write(folder / "interactions" / f"period_{p:02d}.json", _talk(user["periods"][p]))
        bounds = [
            [_answered(c["state"], i) for i, c in enumerate(q["answer_choices"])] for q in questions
        ]
        _write(tmp_path / "runs" / f"upperbound_{user['id']}.json", bounds)
    return tmp_path


@pytest.fixture
def edit() -> Callable[[Path, str, object], None]:
    """Replaces what a path such as ``0.1.score`` names in a JSON file; ``...`` removes it."""

    def change(path: Path, steps: str, new: object) -> None:
        content = json.loads(path.read_text())
        *outer, last = [int(step) if step.isdigit() else step for step in steps.split(".")]
        node = content
        for step in outer:
            node = node[step]
        if new is ...:
            del node[last]
        else:
            node[last] = new
        path.write_text(json.dumps(content))

    return change
