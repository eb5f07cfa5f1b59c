"""Asking once more after a reply that cannot be read."""

import json

import pytest

from evolve.agents.common import Speaker
from evolve.agents.registry import make_agent
from evolve.codec import to_data
from evolve.gym.rollout import World, live
from evolve.lm.asking import ask
from evolve.lm.base import Message, Request
from evolve.lm.meter import Meter
from evolve.lm.parse import FormatError, parse_choice
from feedback.diagnosis import diagnose
from feedback.records import ChatMessage, Stage
from policies.errors import OutsideFailureError
from policies.policy import seed_policy

REQUEST = Request("answer", (Message("system", "s"), Message("user", "u")), 7, max_tokens=256)


def read(reply):
    return parse_choice(reply, ["tea", "milk"])


def says(scripted, *replies):
    waiting = list(replies)
    return scripted(lambda _: waiting.pop(0))


def test_a_reply_that_can_be_read_is_asked_for_once(scripted):
    lm = says(scripted, "2")
    found = ask(lm, REQUEST, read)
    assert (found.text, found.value) == ("2", 1)
    assert lm.requests == [REQUEST]


def test_after_a_format_failure_the_reply_and_the_error_are_shown(scripted):
    lm = says(scripted, "9 lives", '{"answer": 1}')
    meter = Meter(lm)
    found = ask(meter, REQUEST, read)
    assert (found.text, found.value) == ('{"answer": 1}', 0)
    first, second = lm.requests
    assert (second.task, second.seed, second.max_tokens) == ("answer", 7, 256)
    *before, reply, told = second.messages
    assert tuple(before) == first.messages
    assert reply == Message("assistant", "9 lives")
    assert told.role == "user"
    assert "no choice from 1 to 2 in '9 lives'" in told.content
    ((role, spent),) = meter.usage
    assert (role, spent.calls) == ("answer", 2)


def test_a_long_reply_is_shown_in_part(scripted):
    lm = says(scripted, "x" * 5_000_000, "1")
    assert ask(lm, REQUEST, read).value == 0
    shown = lm.requests[1].messages[-2].content
    assert shown == "x" * 4000 + " […, 4996000 more characters]"


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_an_empty_turn_is_not_sent(scripted, nothing):
    lm = says(scripted, nothing, "1")
    ask(lm, REQUEST, read)
    assert all(message.content.strip() for message in lm.requests[-1].messages)


def test_the_second_failure_is_the_result(scripted):
    lm = says(scripted, "9", "null")
    found = ask(lm, REQUEST, read)
    assert found.text == "null"
    assert isinstance(found.value, FormatError)
    assert "NoneType" in str(found.value)


def test_errors_of_the_model_pass_but_what_was_spent_is_counted(scripted):
    def failing(request):
        if len(request.messages) > 2:
            raise OutsideFailureError("down")
        return "?"

    meter = Meter(scripted(failing))
    with pytest.raises(OutsideFailureError, match="down"):
        ask(meter, REQUEST, read)
    assert [usage.calls for _, usage in meter.usage] == [1]


@pytest.mark.parametrize(
    "reply",
    [
        *("", "Sorry, I cannot tell.", "0", "-1", "99", "null", "true", "[1]", '{"answer": null}'),
        *('{"answer": 0}', '{"answer": -1}', '{"answer": −1}', '{"answer": 99}', '{"answer": [1]}'),
    ],
)
def test_an_answer_that_cannot_be_read_is_no_choice_and_a_failure_of_format(
    people, scripted, reply
):
    (user,) = people(1, periods=3, questions=2)
    lm = scripted(lambda r: {"answer": reply, "probe": '{"drink": "a"}'}.get(r.task, "{}"))
    rollout = live(seed_policy("none"), user, World(lm, lm, seed=1))
    assert [(answer.chosen, answer.right) for answer in rollout.answers] == [(None, False)] * 6
    found = diagnose(rollout, user.truth())
    assert [one.stage for one in found] == [Stage.FORMAT] * 6
    assert "-1" not in json.dumps([to_data(one) for one in found])
    assert len(lm.asked("answer")) == dict(rollout.usage)["answer"].calls == 12  # each once more


@pytest.mark.parametrize("architecture", ["awe", "awi"])
@pytest.mark.parametrize(
    "reply",
    [
        *("", "Sorry.", "null", "[]", '["a"]', '"a"', "2", '{"drink": "milk"', '{"": "milk"}'),
        *('{"drink": {"is": "milk"}}', '{"drink": ["milk"]}', '{"drink": null}', '{"drink": 2}'),
        *('{"drink": "milk", "pet"}', '{"drink": "milk"} {"drink": "tea"}'),
        json.dumps({"drink": "x" * 200_000}),
    ],
    ids=lambda reply: repr(reply[:20]),
)
def test_a_write_that_cannot_be_read_leaves_the_agents_memory_intact(scripted, architecture, reply):
    lm = scripted(lambda r: reply if "word1" in r.messages[0].content else '{"drink": "tea"}')
    meter = Meter(lm)
    policy = seed_policy(architecture).derive(settings={"write_every": 2, "local_window": 0})
    agent = make_agent(Speaker(policy, meter, seed=7))
    for number in range(2):
        before = agent.entries
        said = (("u", "user", f"I saw the word{number}."), ("a", "assistant", "I see."))
        agent.observe([ChatMessage(f"0.{number}.0.{w}", role, text) for w, role, text in said])
    assert [(entry.label, entry.text, entry.retired) for entry in before] == [
        ("drink", "tea", None)
    ]
    assert agent.entries == before
    assert [bool(write.format_error) for write in agent.writes] == [False, True]
    assert agent.writes[1].entries == ()
    assert dict(meter.usage)["write"].calls == 3  # the second was asked once more
