"""Ways to ask the offline model in each role, as the rest of the program asks it."""

import json
from collections.abc import Callable

import pytest

from evolve.agents.prompts import chat, conversation_block, memories_block
from evolve.lm.base import Message, Request
from evolve.lm.offline import Capacity, OfflineLM
from feedback.records import ChatMessage, Entry

_CALM = Capacity(attention_noise=0.0)


def _entries(facts: list[tuple[str, str]]) -> list[Entry]:
    return [
        Entry(i, label, text, (f"0.{i}.0.u",), i, 0, i) for i, (label, text) in enumerate(facts)
    ]


def _memories(facts: list[tuple[str, str]]) -> str:
    return f"You know a user.\n{memories_block(_entries(facts))}"


def _turns(said: str) -> list[ChatMessage]:
    return [
        ChatMessage("0.0.0.u", "user", said),
        ChatMessage("0.0.0.a", "assistant", "I see."),
    ]


class Asked:
    """The offline model without noise, asked in one role at a time."""

    def __init__(self, capacity: Capacity) -> None:
        self._lm = OfflineLM(capacity)

    def write(self, types: str, said: str, seed: int = 1) -> dict[str, str]:
        prompt = (
            f"Write.\n<memory_types>\n{types}\n</memory_types>\n{memories_block([])}\n"
            f"{conversation_block(_turns(said))}"
        )
        return self._json("write", (Message("user", prompt),), seed)

    def choose(self, choices, facts=(), *, said=(), bound=False, seed=1) -> int:
        listed = "\n".join(f"{n}. {choice}" for n, choice in enumerate(choices, 1))
        last = f"<question>\nWhat now?\n</question>\n<choices>\n{listed}\n</choices>"
        if bound:
            given = "\n".join(f"- {state}: {value}" for state, value in facts)
            messages = chat(f"True:\n<facts>\n{given}\n</facts>", (), last)
        else:
            turns = [turn for text in said for turn in _turns(text)]
            messages = chat(_memories(list(facts)), turns, last)
        return self._json("bound" if bound else "answer", messages, seed)["answer"]

    def probe(self, schema, facts=(), *, said=(), seed=1) -> dict[str, str]:
        listed = "\n".join(f"{state}: {' | '.join(values)}" for state, values in schema.items())
        turns = [turn for text in said for turn in _turns(text)]
        last = f"Which?\n<states>\n{listed}\n</states>"
        return self._json("probe", chat(_memories(list(facts)), turns, last), seed)

    def reply(self, prompt: str, said: str, facts=(), seed: int = 1) -> str:
        system = f"{prompt}\n{memories_block(_entries(list(facts)))}"
        return self._say("reply", chat(system, (), said), seed)

    def play(self, states, heard: str, profile: str = "", seed: int = 1):
        listed = "\n".join(f"{name}: {value}" for name, value in states.items())
        messages = (
            Message("system", f"<profile>\n{profile}\n</profile>"),
            Message(
                "user",
                f"<states>\n{listed}\n</states>\n<conversation>\nuser: Hello.\n"
                f"assistant: {heard}\n</conversation>",
            ),
        )
        done = self._json("user", messages, seed)
        return done["message"], done["told"]

    def _json(self, task, messages, seed):
        return json.loads(self._say(task, messages, seed))

    def _say(self, task, messages, seed):
        return self._lm.complete(Request(task, messages, seed)).text


@pytest.fixture(scope="session")
def asked() -> Asked:
    return Asked(_CALM)


@pytest.fixture(scope="session")
def asked_with() -> Callable[..., Asked]:
    """Makes one with other capacities, still without noise."""
    return lambda **limits: Asked(Capacity(attention_noise=0.0, **limits))
