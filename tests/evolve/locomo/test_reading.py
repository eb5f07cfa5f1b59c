from __future__ import annotations

import pytest

from evolve.locomo.reading import dialogues_of, is_locomo, load_dialogues
from policies.errors import EnvironmentFileError


def test_a_file_is_told_by_its_content(content, write, tmp_path):
    assert is_locomo(write(content))
    assert not is_locomo(write([{"id": "ann", "qas": []}]))
    assert not is_locomo(write([{"conversation": "a", "other": '"qa"'}]))
    assert not is_locomo(write([]))
    assert not is_locomo(tmp_path / "absent.json")
    assert not is_locomo(tmp_path)
    broken = tmp_path / "broken.json"
    broken.write_text('[{"conversation": {}, "qa": [')
    assert not is_locomo(broken)


def test_a_dialogue_is_read_with_its_oddities(content, write):
    one, two = load_dialogues(write(content))
    assert (one.id, two.id, one.speakers) == ("one", "two", ("Ann", "Bob"))
    assert [len(session.turns) for session in one.sessions] == [3, 3]
    assert one.sessions[1].time == "1:02 pm on 9 May, 2023"
    assert one.turns[-1].text == "Look at this lighthouse. [shares a picture: a white tower]"
    assert [question.answer for question in one.questions][3:5] == ["1", None]
    assert one.questions[3].evidence == ("D1:2", "D1:3")
    assert [(odd.question, odd.found, odd.read) for odd in one.oddities] == [
        (3, "D1:2; D1:03", True),
        (5, "D", False),
    ]


def test_a_picture_alone_is_a_turn(content):
    turn = content[0]["conversation"]["session_2"][2]
    turn["text"] = ""
    assert dialogues_of(content, "f")[0].turns[-1].text == "[shares a picture: a white tower]"


def test_sessions_are_in_the_order_of_their_numbers(content):
    talk = content[0]["conversation"]
    for key in ("session_2", "session_2_date_time"):
        talk[key.replace("2", "10", 1)] = talk.pop(key)
    talk["session_9"], talk["session_9_date_time"] = [], "empty"
    assert [turn.id for turn in dialogues_of(content, "f")[0].turns][0::3] == ["D1:1", "D2:1"]


def _set(content, path, value):
    *steps, last = path
    for step in steps:
        content = content[step]
    if value is None:
        del content[last]
    else:
        content[last] = value


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ((0, "sample_id"), None, "dialogue 0 (counted from 0): `sample_id` must be given"),
        ((1, "sample_id"), "one", "an earlier dialogue has the `sample_id`"),
        ((0, "conversation"), [], "`conversation` must be an object"),
        ((0, "conversation", "speaker_b"), "Ann", "both speakers are called"),
        ((0, "conversation", "session_1_date_time"), None, "`session_1_date_time` must be given"),
        ((0, "conversation", "session_1"), "hello", "a list with at least one turn"),
        ((0, "conversation", "session_1", 0, "speaker"), "Cat", 'the speakers are "Ann" and "Bob"'),
        ((0, "conversation", "session_1", 0, "text"), 5, "`text` must be text"),
        ((0, "conversation", "session_1", 1, "dia_id"), "D1:1", "session 1, turn 1"),
        ((0, "qa"), [], "`qa` must be a list with at least one question"),
        ((0, "qa", 0, "category"), 6, "`category` must be a number from 1 to 5, found 6"),
        ((0, "qa", 0, "category"), True, "`category` must be a number from 1 to 5, found true"),
        ((0, "qa", 0, "answer"), None, "`answer` must be given"),
        ((0, "qa", 0, "question"), "", "`question` must be text"),
    ],
)
def test_mistakes_are_one_sentence_with_the_place(content, path, value, told):
    _set(content, path, value)
    with pytest.raises(EnvironmentFileError) as caught:
        dialogues_of(content, "file.json")
    assert str(caught.value).startswith("file.json, ")
    assert told in str(caught.value)


@pytest.mark.parametrize("found", [[], {}, [1], ["a"], None])
def test_what_is_no_list_of_dialogues_is_refused(found):
    with pytest.raises(EnvironmentFileError):
        dialogues_of(found, "file.json")


def test_a_dialogue_without_turns_is_refused(content):
    content[0]["conversation"] = {"speaker_a": "Ann", "speaker_b": "Bob", "session_1": []}
    with pytest.raises(EnvironmentFileError, match="no session with a turn"):
        dialogues_of(content, "file.json")


def test_the_published_file_is_read_whole(shared_data):
    path = shared_data / "locomo" / "locomo7.json"
    assert is_locomo(path)
    assert not is_locomo(shared_data / "amemgym-v1" / "data.json")
    dialogues = load_dialogues(path)
    assert sum(len(one.questions) for one in dialogues) == 1347
    odd = {odd.found: odd.read for one in dialogues for odd in one.oddities}
    assert odd == {
        "D8:6; D9:17": True,
        "D:11:26": True,
        "D10:19": False,
        "D": False,
        "D4:36": False,
    }
