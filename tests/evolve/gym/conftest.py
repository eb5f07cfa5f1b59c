"""A tiny valid environment, as parsed JSON."""

import copy
from collections.abc import Callable

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
