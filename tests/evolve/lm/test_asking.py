"""Asking once more after a reply that cannot be read."""

import pytest

from evolve.lm.asking import ask
from evolve.lm.base import Message, Request
from evolve.lm.meter import Meter
from evolve.lm.parse import FormatError, parse_choice
from policies.errors import OutsideFailureError

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
