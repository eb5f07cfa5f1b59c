"""Tells from a chat request alone which role of the loop it plays, as a server must.

Only words that no policy can change are looked for: those of the questions, the probes, the upper
bounds, the simulated user and the rewriter's format. What is none of these is a reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolve.lm import extraction
from evolve.lm.base import Message, Request, Task
from evolve.lm.offline_memory import asked

_USER = "You play a user who chats with an assistant."
_BOUND = "You advise a user. These facts are true of the user now:"
_PROBE = "Which option is true of the user now, for each of these?"
_QUESTION = "<question>\n"
_REWRITE = "[[ ## purpose ## ]]"


def request_of(body: Mapping[str, object]) -> Request:
    """The request that a body of the chat API stands for; what the offline model takes.

    A prompt that was asked again with the first reply and its parse error below it is taken as it
    was asked first: the offline model answers that.

    Args:
        body: Of ``POST /v1/chat/completions``.

    Raises:
        ValueError: It has no messages of text.
    """
    messages = _messages(body.get("messages"))
    seed = body.get("seed")
    task, shown = _task(messages)
    return Request(task, shown, seed if isinstance(seed, int) else 0)


def _task(messages: tuple[Message, ...]) -> tuple[Task, tuple[Message, ...]]:
    """The role, and the messages without a second asking."""
    first = messages[0]
    if first.role == "user":
        # Chats, questions and dspy's prompts have a system message; our write prompt has none.
        return "write", messages[:1]
    if extraction.asks(messages[1].content if len(messages) > 1 else ""):
        return "write", messages[:2]
    return _chat_task(messages)


def _chat_task(messages: tuple[Message, ...]) -> tuple[Task, tuple[Message, ...]]:
    """The same of a prompt with a system message that is none of mem0's."""
    first = messages[0]
    if first.content.startswith(_USER):
        return "user", messages
    for shown in (messages, messages[:-2]):
        last = asked(shown) if len(shown) > 1 else ""
        if _REWRITE in last:
            return "rewrite", shown
        if last.startswith(_PROBE):
            return "probe", shown
        if last.startswith(_QUESTION):
            return ("bound" if first.content.startswith(_BOUND) else "answer"), shown
    return "reply", messages


def _messages(given: object) -> tuple[Message, ...]:
    if not isinstance(given, list) or not given:
        raise ValueError("messages must be a list with at least one message")
    return tuple(_message(one) for one in given)


def _message(given: object) -> Message:
    if not isinstance(given, dict):
        raise ValueError("a message must be an object")
    role = "system" if given.get("role") == "developer" else str(given.get("role"))
    return Message(role, _text(given.get("content")))


def _text(content: object) -> str:
    """Content as text: it is one, or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        raise ValueError("content must be text or a list of parts")
    parts = [part.get("text") if isinstance(part, dict) else None for part in content]
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("a part of a message must be text")
    return "".join(str(part) for part in parts)
