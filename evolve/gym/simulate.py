"""The simulated user: opens sessions as the file says, then reacts to this assistant's replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve.gym.users import User
from evolve.lm.base import CAPS, LM, Message, Request
from evolve.lm.json_text import json_value, spoken
from evolve.lm.parse import parse_object
from evolve.seeding import derive
from feedback.records import ChatMessage
from policies.errors import OutsideFailureError, PolicyFailureError

_PLAY = (
    "You play a user who chats with an assistant. Stay in character, write as people write, one to "
    "three sentences. Go on with the conversation. If the assistant asked about something that one "
    "of your current states answers, tell that state, in passing; otherwise tell none of them.\n"
    'Reply with JSON only: {"message": "what you say", "told": {"state": "value"}}, where told '
    "holds the states that your message gives away, {} if none.\n"
)


@dataclass(frozen=True, slots=True)
class SimulatedUser:
    """One user of the environment, played by a model.

    Attributes:
        user: Who is played.
        seed: Of the run.
    """

    user: User
    seed: int

    def open(self, period: int, session: int) -> ChatMessage:
        """The session's own query, with its time; tells what the file says that it exposes."""
        opening = self.user.periods[period].sessions[session]
        told = tuple(sorted((opening.exposed or {}).items()))
        content = f"[Current Time: {opening.time}]\n{opening.query}"
        return ChatMessage(f"{period}.{session}.0.u", "user", content, told)

    def follow(
        self, period: int, session: int, so_far: Sequence[ChatMessage], lm: LM
    ) -> ChatMessage:
        """What the user says next, given this session's messages so far.

        Args:
            period: Number of the period.
            session: Number of the session in it.
            so_far: The session's messages, in order.
            lm: The model that plays the user.

        Raises:
            OutsideFailureError: The model that plays the user failed; never the policy's fault.
        """
        state = self.user.periods[period].state
        message_id = f"{period}.{session}.{len(so_far) // 2}.u"
        seed = derive(self.seed, "user", self.user.id, message_id)
        request = Request("user", _prompt(self.user, state, so_far), seed, CAPS["user"])
        try:
            reply = lm.complete(request).text
        except PolicyFailureError as error:
            raise OutsideFailureError(f"the simulated user could not speak: {error}") from error
        content, told = _read(reply, state)
        return ChatMessage(message_id, "user", content, told)


def _prompt(
    user: User, state: Mapping[str, str], so_far: Sequence[ChatMessage]
) -> tuple[Message, ...]:
    states = "\n".join(
        f"{name}: {' '.join(value.split())}" for name, value in sorted(state.items())
    )
    talk = "\n".join(f"{m.role}: {m.content}" for m in so_far)
    return (
        Message("system", f"{_PLAY}<profile>\n{user.profile}\n</profile>"),
        Message(
            "user",
            f"Your current states:\n<states>\n{states}\n</states>\n"
            f"<conversation>\n{talk}\n</conversation>\nReply with JSON only.",
        ),
    )


def _read(reply: str, state: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Message and told states, of which only true ones count.

    A reply that is no such JSON is taken as the words themselves, unless it looks like JSON all the
    same or says nothing: then the user only thanks.
    """
    found = parse_object(reply, "message") or {}
    message, told = found.get("message"), found.get("told")
    if not isinstance(message, str) or not _sayable(message):
        return _words(reply), ()
    if not isinstance(told, dict):
        return message.strip(), ()
    said = {s: " ".join(v.split()) for s, v in told.items() if isinstance(v, str)}
    true = {s: v for s, v in state.items() if said.get(s) == " ".join(v.split())}
    return message.strip(), tuple(sorted(true.items()))


def _words(reply: str) -> str:
    text = spoken(reply)
    value = json_value(text)
    if value is not None and isinstance(value[0], str):
        text = value[0].strip()
    elif value is not None or text.startswith(("{", "[", "`")):
        text = ""
    return text if _sayable(text) else "Thanks."


def _sayable(text: str) -> bool:
    """Whether there is something to say that can be written down."""
    return bool(text.strip()) and not any("\ud800" <= c <= "\udfff" for c in text)
