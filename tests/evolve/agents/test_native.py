"""The newest history that fits in context."""

from hypothesis import given
from hypothesis import strategies as st

from evolve.agents.base import Query
from evolve.lm.base import count_tokens
from feedback.records import ChatMessage

QUERY = Query("answer", "Reply so.", "?", "?", 1)


def shown(agent):
    return list(agent.prepare(QUERY).context.messages)


def test_all_of_it_where_it_fits(agent_of, scripted, talk):
    agent = agent_of("native", scripted(lambda _: ""), context_tokens=1000)
    messages = talk(12)
    agent.observe(messages)
    assert shown(agent) == [message.id for message in messages]


@given(st.lists(st.integers(0, 2500), max_size=20))
def test_the_newest_that_fit_and_the_last_in_any_case(agent_of, scripted, lengths):
    agent = agent_of("native", scripted(lambda _: ""), context_tokens=1000)
    messages = [ChatMessage(f"0.{n}.0.u", "user", "x" * length) for n, length in enumerate(lengths)]
    fits: list[str] = []
    left = 1000
    for message in reversed(messages):
        left -= count_tokens(message.content)
        if left < 0 and fits:
            break
        fits.insert(0, message.id)
    for message in messages:
        agent.observe([message])
    assert shown(agent) == fits


def test_a_message_larger_than_the_context_stands_alone(agent_of, scripted, talk):
    agent = agent_of("native", scripted(lambda _: ""), context_tokens=1000)
    agent.observe(talk(2))
    agent.observe([ChatMessage("0.2.0.u", "user", "茶" * 5000)])
    assert shown(agent) == ["0.2.0.u"]
    agent.observe([ChatMessage("0.2.0.a", "assistant", "Oh.")])
    assert shown(agent) == ["0.2.0.a"]
