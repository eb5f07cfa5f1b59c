"""The offline model: a deterministic stand-in with bounded attention. It is not an LLM.

It plays every role from the text of the prompt alone. What it can hold in mind is limited by the
parameters of ``Capacity``; none of them names an architecture or a setting. Comprehension comes
from ``lexicon.yaml``; text outside it is read by plain n-gram similarity.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolve.lm.base import Completion, Request, count_tokens


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much the stand-in can hold in mind.

    Attributes:
        kept_facts: Facts that one write call keeps.
        held_types: Remembered types that it can follow; of a longer list a part, drawn per call.
        attended: Memories that an answer or a probe weighs.
        attention_noise: Standard deviation of the noise on the relevance of a memory.
        fresh_turns: User turns just before a question that are still understood in full.
        insight: Share of older raw turns that only imply something and are still seen for what they
            say when a question is asked.
        recency_pull: Relevance that the newest memory gains where newer values are said to win.
        dated_pull: What the newest memory gains where nothing is said of newer values, if its time
            is plain: a written fact, whose line names the session, or a fresh turn.
    """

    kept_facts: int = 3
    held_types: int = 40
    attended: int = 6
    attention_noise: float = 0.25
    fresh_turns: int = 2
    insight: float = 0.3
    recency_pull: float = 0.2
    dated_pull: float = 0.5


class OfflineLM:
    """The stand-in as an ``LM``.

    Args:
        capacity: Its limits.
    """

    def __init__(self, capacity: Capacity = Capacity()) -> None:
        self._capacity = capacity

    @property
    def name(self) -> str:
        """Always ``offline``."""
        return "offline"

    def complete(self, request: Request) -> Completion:
        """Answer one request; the same request always gets the same reply."""
        text = self._say(request)
        prompt = sum(count_tokens(message.content) for message in request.messages)
        return Completion(text, prompt, count_tokens(text))

    def _say(self, request: Request) -> str:
        # Imported here: each role's module loads the lexicon only where it is needed.
        if request.task == "rewrite":
            from evolve.lm import offline_reflect, offline_types
            from evolve.lm.offline_rewrite import rewrite

            say = offline_types.from_questions if offline_types.asks(request) else rewrite
            return (offline_reflect.reflect if offline_reflect.asks(request) else say)(request)
        if request.task == "write":
            from evolve.lm import extraction
            from evolve.lm.offline_write import write

            if extraction.asks(request.messages[-1].content):
                return extraction.memories(write(extraction.as_write(request), self._capacity))
            return write(request, self._capacity)
        if request.task == "user":
            from evolve.lm.offline_talk import play_user

            return play_user(request)
        if request.task == "reply":
            from evolve.lm.offline_talk import reply

            return reply(request)
        from evolve.lm.offline_choice import choose

        return choose(request, self._capacity)
