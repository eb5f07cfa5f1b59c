"""The simulated user: what it says, and what of what it claims to have told is believed."""

import json

import pytest

from evolve.gym.people import Period, Session, User
from evolve.gym.simulate import SimulatedUser
from feedback.records import ChatMessage
from policies.errors import OutsideFailureError, PolicyFailureError

STATE = {"drink": "green  tea", "pet": "cat"}
SO_FAR = (
    ChatMessage("1.0.0.u", "user", "Hello."),
    ChatMessage("1.0.0.a", "assistant", "Which pet have you?"),
)


@pytest.fixture
def ann():
    sessions = (
        Session("Where is a shop?", "2024-01-01 09:00:00", {"pet": "cat", "drink": "green  tea"}),
        Session("And now?", "2024-01-02 09:00:00", None),
    )
    periods = (
        Period(None, None, sessions, {**STATE, "pet": "dog"}, frozenset()),
        Period(None, None, sessions[:1], STATE, frozenset({"pet"})),
    )
    schema = {"drink": ("green  tea", "milk"), "pet": ("cat", "dog")}
    return User("ann", "Ann is 40.", schema, periods, ())


@pytest.fixture
def said(ann, scripted):
    """What the user says next where the model replies so."""

    def say(reply):
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return SimulatedUser(ann, 1).follow(1, 0, SO_FAR, scripted(lambda _: text))

    return say


def test_a_session_opens_with_its_time_and_query(ann):
    opened = SimulatedUser(ann, 1).open(0, 0)
    assert opened == ChatMessage(
        "0.0.0.u",
        "user",
        "[Current Time: 2024-01-01 09:00:00]\nWhere is a shop?",
        (("drink", "green  tea"), ("pet", "cat")),
    )
    assert SimulatedUser(ann, 1).open(0, 1).told == ()


def test_the_model_sees_profile_current_states_and_this_session(ann, scripted):
    lm = scripted(lambda _: "Yes.")
    followed = SimulatedUser(ann, 1).follow(1, 0, SO_FAR, lm)
    (request,) = lm.requests
    assert (followed.id, followed.role, followed.content) == ("1.0.1.u", "user", "Yes.")
    assert request.task == "user"
    system, last = request.messages
    assert "<profile>\nAnn is 40.\n</profile>" in system.content
    assert "<states>\ndrink: green tea\npet: cat\n</states>" in last.content
    assert "user: Hello.\nassistant: Which pet have you?" in last.content


def test_what_is_asked_of_the_model_is_seeded_by_place(ann, scripted):
    lm = scripted(lambda _: "Yes.")
    for seed, period in ((1, 1), (1, 1), (2, 1), (1, 0)):
        SimulatedUser(ann, seed).follow(period, 0, SO_FAR, lm)
    seeds = [request.seed for request in lm.requests]
    assert seeds[0] == seeds[1]
    assert len(set(seeds)) == 3


@pytest.mark.parametrize(
    "reply",
    [
        {"message": " A cat. ", "told": {"pet": "cat"}},
        '```json\n{"message": "A cat.", "told": {"pet": "cat"}}\n```',
        '<think>Pet?</think>{"message": "A cat.", "told": {"pet": "cat"}}',
        "{'message': 'A cat.', 'told': {'pet': 'cat'},}",
    ],
)
def test_message_and_told_states(said, reply):
    assert (said(reply).content, said(reply).told) == ("A cat.", (("pet", "cat"),))


@pytest.mark.parametrize(
    "told",
    [
        *({}, None, [], "pet", {"pet": "dog"}, {"pet": None}, {"pet": ["cat"]}, {"Pet": "cat"}),
        *({"age": "40"}, {"pet": "CAT"}, {"": ""}, [["pet", "cat"]], {"pet": {"is": "cat"}}),
    ],
)
def test_lies_and_odd_claims_are_dropped(said, told):
    message = said({"message": "A dog.", "told": told})
    assert (message.content, message.told) == ("A dog.", ())


def test_of_several_claims_the_true_ones_are_kept(said):
    claims = {"pet": "cat", "drink": "milk", "x": "y"}
    assert said({"message": "Hm.", "told": claims}).told == (("pet", "cat"),)
    both = {"pet": "cat", "drink": "green tea"}
    assert said({"message": "Hm.", "told": both}).told == (
        ("drink", "green  tea"),
        ("pet", "cat"),
    )


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("I have a {grey} cat.", "I have a {grey} cat."),
        ("<think>A cat.</think> A cat.", "A cat."),
        ('"A cat."', "A cat."),
        ("我有一只猫。", "我有一只猫。"),
        *((reply, "Thanks.") for reply in ("", " \n", "null", "true", "3", "[]", "{}", "<think>a")),
        ('["A cat."]', "Thanks."),
        ('{"text": "A cat."}', "Thanks."),
        ('{"message": null}', "Thanks."),
        ('{"message": 3, "told": {"pet": "cat"}}', "Thanks."),
        ('{"message": " ", "told": {"pet": "cat"}}', "Thanks."),
        ('{"message": "A ca', "Thanks."),
        ('```json\n{"message": "A ca', "Thanks."),
        ('{"message": "\\ud800"}', "Thanks."),
    ],
)
def test_replies_that_are_no_such_json_tell_nothing(said, reply, words):
    message = said(reply)
    assert (message.content, message.told) == (words, ())


@pytest.mark.parametrize("error", [OutsideFailureError("down"), PolicyFailureError("too long")])
def test_failures_of_the_model_that_plays_are_never_the_policys(ann, scripted, error):
    def failing(request):
        raise error

    with pytest.raises(OutsideFailureError, match=str(error)):
        SimulatedUser(ann, 1).follow(1, 0, SO_FAR, scripted(failing))
