"""Chats are read as they are exported; what cannot be read is said in a sentence."""

import json
from datetime import datetime
from time import process_time

import pytest

from evolve.chats.reading import chats_of
from policies.errors import EnvironmentFileError

CHAT = {"user": "ann", "timestamp": "2024-03-01T10:00:00Z"}
SAID = {"role": "user", "content": "Hello."}


def read(*objects):
    return chats_of("\n".join(map(json.dumps, objects)).encode(), "chats.jsonl")


def test_conversations_and_single_messages(chats):
    assert list(chats.talks) == ["7", "ann"]
    first, second = chats.talks["ann"]
    assert [(turn.role, turn.content) for turn in first.turns] == [
        ("user", "I moved to Lyon with my dog Rex."),
        ("assistant", "How do you like it?"),
        ("user", "A lot. I eat vegan food."),
    ]
    assert (first.time, second.time) == (datetime(2024, 3, 1, 10), datetime(2024, 6, 10, 10))
    assert [turn.content for turn in second.turns] == ["I live in Lille now."]
    assert chats.left_out == 2  # the system's and the call of a tool


def test_what_has_no_id_of_a_conversation_is_parted_by_pauses(chats):
    talks = chats.talks["7"]
    assert [len(talk.turns) for talk in talks] == [2, 1]
    assert talks[1].time == datetime(2024, 4, 2, 8, 1)
    named = [{**CHAT, **SAID, "conversation_id": name} for name in "aba"]
    assert [len(talk.turns) for talk in read(*named).talks["ann"]] == [2, 1]


def test_a_list_is_read_as_lines_are():
    chat = {**CHAT, "messages": [SAID]}
    assert chats_of(json.dumps([chat]).encode(), "chats.json") == read(chat)


def test_time_grows_with_the_number_of_users_and_not_with_its_square():
    many = [{**CHAT, "user": number, "messages": [SAID]} for number in range(20_000)]
    start = process_time()
    assert len(read(*many).talks) == 20_000
    assert process_time() - start < 10  # 44 seconds, where each user looks through all talks


def test_spaces_of_an_id_are_those_of_probes():
    one, other = ({**CHAT, "user": user, "messages": [SAID]} for user in (" ann  lee", "ann lee"))
    assert [len(talks) for talks in read(one, other).talks.values()] == [2]
    assert list(read({**CHAT, **SAID, "user": "ann  lee "}).talks) == ["ann lee"]


def test_times_of_messages_do_where_the_conversation_has_none():
    timed = {"user": "ann", "messages": [{**SAID, "created": 1709287200000}]}
    assert read(timed).talks["ann"][0].time == datetime(2024, 3, 1, 10)


@pytest.mark.parametrize(
    ("chat", "told"),
    [
        ({**CHAT, "text": "Hello."}, "a conversation with `messages` or one message with `role`"),
        ({"user": "ann", "messages": [SAID]}, "neither the conversation nor a message has a time"),
        ({"user": "ann", **SAID}, "no time"),
        ({**CHAT, "timestamp": "soon", "messages": [SAID]}, '`timestamp` must be a time, found "s'),
        ({**CHAT, "timestamp": 1e300, "messages": [SAID]}, "must be a time"),
        ({"timestamp": 1, "messages": [SAID]}, "`user` must be given"),
        ({**CHAT, "user": " ", "messages": [SAID]}, "`user` must be text that is not blank"),
        ({**CHAT, "messages": []}, "`messages` must be a list with at least one"),
        ({**CHAT, "messages": [{"role": "bot", "content": "x"}]}, "`role` is one of user, assist"),
        ({**CHAT, "messages": [{"role": "user", "content": 3}]}, "`content` must be a list"),
        ({**CHAT, "messages": [{"role": "user", "content": "\ud800"}]}, "half of a surrogate"),
    ],
)
def test_mistakes(chat, told):
    with pytest.raises(EnvironmentFileError) as raised:
        read({**CHAT, "messages": [SAID]}, chat)
    assert told in str(raised.value)
    assert str(raised.value).startswith("chats.jsonl, line 2")
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize("data", [b"", b" \n", b"{", b"[]", b"3", b"\xff\xfe", b'{"a": 1'])
def test_broken_files(data):
    with pytest.raises(EnvironmentFileError, match=r"^chats\.jsonl"):
        chats_of(data, "chats.jsonl")
