"""Chats of two users, and probes of them."""

import json

import pytest

from evolve.chats.probing import probes_of
from evolve.chats.reading import chats_of

CHATS = [
    {
        "user": "ann",
        "timestamp": "2024-03-01T10:00:00Z",
        "messages": [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "I moved to Lyon with my dog Rex."},
            {"role": "assistant", "content": "How do you like it?"},
            {"role": "user", "content": "A lot. I eat vegan food."},
        ],
    },
    {
        "user": "ann",
        "created_at": 1718013600,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "I live in Lille now."}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        ],
    },
    {"user_id": 7, "role": "user", "content": "Momo is ill.", "timestamp": "2024-03-02T10:00:00"},
    {"user_id": 7, "role": "assistant", "content": "Oh.", "timestamp": "2024-03-02T10:01:00"},
    {"user_id": 7, "role": "user", "content": "No nuts.", "timestamp": "2024-04-02T10:01:00+02:00"},
]
PROBES = [
    {"user": "ann", "state": "home", "question": "Where?", "expected": e, "date": d}
    for e, d in [("Lyon", "2024-03-01"), ("Lille", "2024-06-10")]
] + [
    {
        **{"user": "ann", "state": "diet", "question": "What to eat?", "date": "2024-03-01"},
        **{"expected": "vegan", "choices": {"vegan": "A stew.", "meat": "A steak."}},
    },
    {
        **{"user": 7, "state": "nuts", "question": "Nuts?", "date": "2024-04-02"},
        **{"expected": "none at all", "accept": ["no nuts"]},
    },
]


def lines(objects) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


@pytest.fixture
def chats():
    return chats_of(lines(CHATS), "chats.jsonl")


@pytest.fixture
def probes():
    return probes_of(lines(PROBES), "probes.jsonl")
