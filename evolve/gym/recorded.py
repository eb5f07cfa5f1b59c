"""Conversations that were recorded elsewhere: replayed to memory, where nobody is simulated.

A user with ``recorded`` conversations (``evolve.gym.people.User``) is lived off-policy wherever a
rollout of it is asked for: memory observes what was said, nobody replies, and the questions of a
period are asked at its end as of any other user. So such a rollout is charged its questions and
probes alone, and a policy's reply prompt changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from feedback.records import ChatMessage, message_position

Conversation = tuple[tuple[ChatMessage, ...], ...]
"""One period: sessions of messages, in order."""

OFF_POLICY = (
    "recorded conversations are replayed: memory hears what was said to another assistant, so what "
    "a policy would have replied, and learned by asking, does not count, and its reply_prompt "
    "changes nothing"
)
"""What every report on such users must say."""


def session_messages(
    period: int, session: int, turns: Iterable[ChatMessage]
) -> tuple[ChatMessage, ...]:
    """One session of a recorded conversation, its messages numbered as ``feedback.records`` says.

    Two messages in a row of one role stay two: a round ends where the user speaks again, and one
    that an assistant's message begins has no message of the user.

    Args:
        period: Number of the period.
        session: Number of the session in it.
        turns: Messages in order; their ids are made anew.
    """
    numbered: list[ChatMessage] = []
    number, before = -1, "assistant"
    for turn in turns:
        if turn.role == "user" or before == "assistant":
            number += 1
        before = turn.role
        message_id = f"{period}.{session}.{number}.{turn.role[0]}"
        numbered.append(ChatMessage(message_id, turn.role, turn.content, turn.told))
    return tuple(numbered)


def rounds_of(session: Sequence[ChatMessage]) -> Iterator[tuple[ChatMessage, ...]]:
    """The rounds of a session: what memory observes at once."""
    for _, messages in groupby(session, key=lambda message: message_position(message.id)[2]):
        yield tuple(messages)


def users_words(recorded: Iterable[Conversation]) -> list[str]:
    """What the user said, message by message."""
    return [
        message.content
        for conversation in recorded
        for session in conversation
        for message in session
        if message.role == "user"
    ]
