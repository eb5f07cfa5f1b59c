"""Raw turns as entries, by granularity."""

import pytest

from feedback.records import ChatMessage


def texts(agent):
    return [entry.text for entry in agent.entries if entry.retired is None]


@pytest.fixture
def raw(agent_of, scripted):
    def make(**settings):
        return agent_of("rag", scripted(lambda _: "{}"), write_every=2, local_window=0, **settings)

    return make


def say(agent, place, user, assistant):
    agent.observe(
        [ChatMessage(f"{place}.u", "user", user), ChatMessage(f"{place}.a", "assistant", assistant)]
    )


def test_no_model_writes(agent_of, scripted, talk):
    lm = scripted(lambda _: "{}")
    agent_of("rag", lm, write_every=2).observe(talk(9))
    assert lm.requests == []


def test_message(raw):
    agent = raw(granularity="message")
    say(agent, "0.0.0", "One. Two?", "Three.")
    assert texts(agent) == ["user: One. Two?", "assistant: Three."]
    assert [entry.sources for entry in agent.entries] == [("0.0.0.u",), ("0.0.0.a",)]
    assert {entry.label for entry in agent.entries} == {""}


def test_sentence(raw):
    agent = raw(granularity="sentence")
    say(agent, "0.0.0", "One. Two? v1.5 is out!\nThree", "你好。再见！好")
    assert texts(agent) == [
        *("user: One.", "user: Two?", "user: v1.5 is out!", "user: Three"),
        *("assistant: 你好。", "assistant: 再见！", "assistant: 好"),
    ]
    assert {entry.sources for entry in agent.entries} == {("0.0.0.u",), ("0.0.0.a",)}
    assert agent.writes[0].entries == tuple(range(7))


def test_session(raw):
    agent = raw(granularity="session")
    say(agent, "0.0.0", "One.", "Two.")
    say(agent, "0.0.1", "Three.", "Four.")
    say(agent, "0.1.0", "Five.", "Six.")
    assert texts(agent) == [
        "user: One.\nassistant: Two.\nuser: Three.\nassistant: Four.",
        "user: Five.\nassistant: Six.",
    ]
    assert agent.entries[0].retired_because == "superseded"
    assert agent.entries[1].sources == ("0.0.0.u", "0.0.0.a", "0.0.1.u", "0.0.1.a")


def test_a_batch_over_two_sessions_makes_an_entry_of_each(agent_of, scripted):
    agent = agent_of(
        "rag", scripted(lambda _: "{}"), write_every=4, local_window=0, granularity="session"
    )
    say(agent, "0.0.0", "One.", "Two.")
    say(agent, "1.0.0", "Three.", "Four.")
    assert texts(agent) == ["user: One.\nassistant: Two.", "user: Three.\nassistant: Four."]


@pytest.mark.parametrize("granularity", ["message", "sentence", "session"])
def test_a_message_without_words_does_no_harm(raw, granularity):
    agent = raw(granularity=granularity)
    say(agent, "0.0.0", " ", "")
    say(agent, "0.1.0", "One.", "Two.")
    assert "user: One." in "\n".join(texts(agent))
    assert "user:  " not in texts(agent)
