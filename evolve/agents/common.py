"""What all architectures share: how the model is asked for replies and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evolve.agents.base import Prepared, Query
from evolve.agents.prompts import PROBE_PROMPT, PROBE_PROMPT_NO_STORE, chat, memories_block, parted
from evolve.lm.base import CAPS, LM, Request
from evolve.lm.json_text import spoken
from evolve.seeding import derive
from feedback.records import ChatMessage, Context, Entry, message_position
from policies.errors import AgentError
from policies.placeholders import fill, names
from policies.policy import Policy


class SessionCount:
    """Numbers the sessions of a rollout from 0, as their messages come by."""

    def __init__(self) -> None:
        self._last: tuple[int, int] | None = None
        self.current = -1

    def see(self, message: ChatMessage) -> int:
        """Number of the message's session."""
        place = message_position(message.id)[:2]
        if place != self._last:
            self._last = place
            self.current += 1
        return self.current


@dataclass(slots=True)
class Speaker:
    """Asks the model in the policy's words.

    Attributes:
        policy: Whose texts apply; one with other texts may take its place within a life.
        lm: The model.
        seed: Of this rollout's user: the same for every policy.
    """

    policy: Policy
    lm: LM
    seed: int

    def reply(
        self, message: ChatMessage, turns: Sequence[ChatMessage], entries: tuple[Entry, ...] | None
    ) -> str:
        """Reply within the conversation, thinking aside; no store where ``entries`` is None."""
        fixed, shown = self._words(self.policy.texts["reply_prompt"], entries)
        prompt = chat(fixed, turns, message.content, shown=shown)
        request = Request("reply", prompt, derive(self.seed, "reply", message.id), CAPS["reply"])
        return spoken(self.lm.complete(request).text)

    def prepare(
        self, query: Query, turns: Sequence[ChatMessage], entries: tuple[Entry, ...] | None
    ) -> Prepared:
        """A question in the policy's words, or a probe in fixed ones."""
        if query.task == "answer":
            text = self.policy.texts["answer_prompt"]
        else:
            text = PROBE_PROMPT_NO_STORE if entries is None else PROBE_PROMPT
        fixed, shown = self._words(text, entries)
        prompt = chat(f"{fixed}\n\n{query.rules}", turns, query.prompt, shown=shown)
        limit = query.max_tokens or CAPS[query.task]
        request = Request(query.task, prompt, query.seed, limit)
        context = Context(tuple(e.id for e in entries or ()), tuple(turn.id for turn in turns))
        return Prepared(request, context)

    def _words(self, text: str, entries: tuple[Entry, ...] | None) -> tuple[str, str]:
        """What comes before the turns and what after.

        Memories that are retrieved differ with every query: their paragraphs come after the turns.
        Where all are shown, they change only when memory does, and stand where the policy has them.

        Raises:
            AgentError: The text of an agent of one's own has another placeholder.
        """
        if entries is None:
            return text, ""
        others = [name for name in names(text) if name != "memories"]
        if others:
            raise AgentError(
                "A Speaker fills in {{memories}} alone, but a text has "
                f"{{{{{others[0]}}}}}; remove it, or put that prompt to speaker.lm yourself."
            )
        block = {"memories": memories_block(entries)}
        if "top_k" not in self.policy.settings:
            return fill(text, block), ""
        fixed, shown = parted(text)
        return fill(fixed, block), fill(shown, block)
