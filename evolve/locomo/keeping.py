"""What an agent's own limit of memory leaves of the evidence; raw turns take no model to write."""

from __future__ import annotations

from collections.abc import Sequence

from evolve.agents.base import Query
from evolve.agents.common import Speaker
from evolve.agents.rag import rag_agent
from evolve.lm.offline import OfflineLM
from evolve.locomo.dialogues import Dialogue, recorded
from policies.policy import Policy


def kept_line(policy: Policy, dialogues: Sequence[Dialogue]) -> str:
    """How much of the evidence a policy of ``rag`` still holds when the dialogues are over."""
    limit = policy.settings["max_memory_tokens"]
    return (
        f"what is found supposes that nothing is forgotten: with max_memory_tokens {limit} memory "
        f"would still hold {kept_share(policy, dialogues):.0%} of the evidence at the end"
    )


def kept_share(policy: Policy, dialogues: Sequence[Dialogue]) -> float:
    """Mean over questions of the share of evidence turns that are in memory at the end, in 0..1.

    Args:
        policy: Of architecture ``rag``.
        dialogues: With a question that has evidence, at least one.
    """
    shares = []
    for dialogue in dialogues:
        held = _held(policy, dialogue)
        for question in dialogue.questions:
            if question.evidence:
                shares.append(len(held & set(question.evidence)) / len(question.evidence))
    return sum(shares) / len(shares)


def _held(policy: Policy, dialogue: Dialogue) -> set[str]:
    """Turns that are in a live entry, or still in the window."""
    agent = rag_agent(Speaker(policy, OfflineLM(), 0))  # the model is asked for nothing
    heard = recorded(dialogue)
    for session in heard.periods[0]:
        agent.observe(session)
    window = agent.prepare(Query("answer", "", "", "", 0)).context.messages
    live = (source for e in agent.entries if e.retired is None for source in e.sources)
    return {heard.turn_of[message] for message in (*live, *window)}
