"""Reads exported chats: messages in OpenAI's format with times and a user id, per line.

A line is a conversation (``user``, ``messages``, a time of its own or of its first message) or one
message (``user``, ``role``, ``content``, a time, maybe ``conversation_id``); what has no id of a
conversation is parted where nothing was said for an hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evolve.chats.kinds import refuse_table
from evolve.chats.lines import objects_of
from evolve.chats.records import Talk
from evolve.gym.checked import Record, shown
from feedback.records import ChatMessage

_USER = ("user", "user_id")
_TIME = ("timestamp", "created_at", "created", "time")
_SPOKEN = ("user", "assistant")
_OTHERS = frozenset({"system", "developer", "tool", "function"})
_PAUSE = timedelta(hours=1)
_MILLISECONDS = 10_000_000_000  # a number of seconds above it would lie beyond the year 2286


@dataclass(frozen=True, slots=True)
class Chats:
    """What a file of chats holds.

    Attributes:
        talks: User id to its conversations in order of time.
        left_out: Messages of other roles, and such without text, which were not taken.
    """

    talks: Mapping[str, tuple[Talk, ...]]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Spoken:
    """One message in a file that has a line for each.

    Attributes:
        user: Id of the user.
        conversation: Its id; None where the file gives none.
        time: Of the message.
        turn: What was said; None for a message that is not taken.
    """

    user: str
    conversation: str | None
    time: datetime
    turn: ChatMessage | None


def chats_of(data: bytes, source: str) -> Chats:
    """Read chats.

    Args:
        data: The bytes of the file.
        source: Names it in messages.

    Raises:
        EnvironmentFileError: In one sentence, naming file and line, the rule that is broken, what
            was found and what to mend.
    """
    talks: list[Talk] = []
    spoken: list[_Spoken] = []
    left_out = 0
    refuse_table(data, source, "chats are JSON, an object on each line")
    for record in objects_of(data, source):
        if "messages" in record.fields:
            turns, time, skipped = _conversation(record)
            left_out += skipped
            if turns:
                talks.append(Talk(_user(record), time, turns))
        elif "role" in record.fields:
            spoken.append(_message(record))
        else:
            raise record.place.wrong(
                "a line is a conversation with `messages` or one message with `role`, and this one "
                f"has only {', '.join(map(shown, list(record.fields)[:8])) or 'nothing'}",
                "name a file of chats in OpenAI's message format",
            )
    left_out += sum(one.turn is None for one in spoken)
    talks += _grouped(spoken)
    of_user: dict[str, list[Talk]] = {}
    for talk in sorted(talks, key=lambda talk: talk.time):
        of_user.setdefault(talk.user, []).append(talk)
    return Chats({user: tuple(of_user[user]) for user in sorted(of_user)}, left_out)


def moment(value: object) -> datetime | None:
    """A time in UTC without its zone: ISO 8601 (UTC where it names no zone), or Unix seconds.

    None where it is neither.
    """
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value.strip())
            return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > _MILLISECONDS else value
            return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _user(record: Record) -> str:
    """The id of the user: a text, its spaces as those of probes, or a whole number."""
    key = next((key for key in _USER if record.has(key)), _USER[0])
    value = record.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(record.text(key).split())


def _time(record: Record) -> datetime | None:
    key = next((key for key in _TIME if record.has(key)), None)
    if key is None:
        return None
    value = record.get(key)
    time = moment(value)
    if time is None:
        raise record.place.wrong(
            f"`{key}` must be a time, found {shown(value)}",
            "write it like 2024-05-31T18:30:00Z or as Unix seconds",
        )
    return time


def _conversation(record: Record) -> tuple[tuple[ChatMessage, ...], datetime, int]:
    """Turns, time and number of messages left out of a line with a whole conversation."""
    messages = list(record.records("messages", "message"))
    time = _time(record) or next(filter(None, map(_time, messages)), None)
    if time is None:
        raise record.place.wrong(
            "neither the conversation nor a message has a time",
            f"add {', '.join(f'`{key}`' for key in _TIME[:2])} to the line",
        )
    turns = tuple(turn for turn in map(_turn, messages) if turn is not None)
    return turns, time, len(messages) - len(turns)


def _message(record: Record) -> _Spoken:
    time = _time(record)
    if time is None:
        raise record.place.wrong("the message has no time", "add `timestamp` to the line")
    talk = record.fields.get("conversation_id")
    return _Spoken(_user(record), None if talk is None else str(talk), time, _turn(record))


def _turn(record: Record) -> ChatMessage | None:
    """A message, or None for one that nobody said to the other."""
    role = record.text("role")
    if role in _OTHERS:
        return None
    if role not in _SPOKEN:
        known = ", ".join((*_SPOKEN, *sorted(_OTHERS)))
        raise record.place.wrong(
            f"`role` is one of {known}, found {shown(role)}", "name who speaks by one of these"
        )
    text = _text(record)
    return ChatMessage("", role, text) if text.strip() else None


def _text(record: Record) -> str:
    """The text of a message: a string, or the texts among its parts; calls of tools have none."""
    content = record.fields.get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return record.text("content") if content.strip() else ""
    pieces = []
    for part in record.records("content", "part"):
        named = part.fields.get("type")
        pieces.append(part.text("text") if part.has("text") else f"[{named}]")
    return "\n".join(pieces)


def _grouped(spoken: Sequence[_Spoken]) -> list[Talk]:
    """Conversations of messages that stand on lines of their own."""
    talks: dict[tuple[str, str | int], list[_Spoken]] = {}
    last: dict[str, tuple[int, datetime]] = {}
    for number, one in enumerate(sorted(spoken, key=lambda one: one.time)):
        talk: str | int | None = one.conversation
        if talk is None:
            talk, before = last.get(one.user, (number, one.time))
            talk = talk if one.time - before <= _PAUSE else number
            last[one.user] = talk, one.time
        talks.setdefault((one.user, talk), []).append(one)
    found = []
    for (user, _), said in talks.items():
        turns = tuple(one.turn for one in said if one.turn is not None)
        if turns:
            found.append(Talk(user, said[0].time, turns))
    return found
