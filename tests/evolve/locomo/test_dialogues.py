from __future__ import annotations

from evolve.locomo.dialogues import recorded
from evolve.locomo.reading import dialogues_of
from feedback.records import message_position


def test_turns_become_messages_in_order_whoever_speaks(content):
    dialogue = dialogues_of(content, "f")[0]
    heard = recorded(dialogue)
    messages = [message for session in heard.periods[0] for message in session]
    assert [message.id for message in messages] == [
        "0.0.0.u", "0.0.0.a", "0.0.1.a", "0.1.0.a", "0.1.1.u", "0.1.2.u",
    ]  # fmt: skip
    assert sorted(messages, key=lambda m: message_position(m.id)) == messages
    assert [heard.turn_of[message.id] for message in messages] == [t.id for t in dialogue.turns]
    assert messages[1].content == "(1:01 pm on 8 May, 2023) Bob: Lovely! My cat broke a vase."
    assert [message.role for message in messages[:2]] == ["user", "assistant"]
