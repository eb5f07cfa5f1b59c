"""What commands read, and what they say of it: policies by name or file, models, environments."""

from __future__ import annotations

from evolve.agents.own import declare_agent
from evolve.agents.registry import check_usable
from evolve.config import Models
from evolve.lm.base import CAPS
from policies.policy import Policy, read_policy, seed_policy

STAND_IN = (
    "model offline: a deterministic stand-in with bounded attention, not an LLM; tokens are UTF-8 "
    "bytes / 4"
)
OUTSIDE_LEXICON = (
    "much of this environment lies outside the offline model's lexicon and is read by plain "
    "similarity: good enough to show that the file works, with little power to choose between "
    "policies"
)


def called(models: Models) -> str:
    """Which model plays which role, and where those of ``--api-base`` are, in one line."""
    roles = {"model": models.model, "user": models.user_model, "rewriter": models.rewrite_model}
    told = []
    for role, name in roles.items():
        if role == "model" or name != models.model:
            base = models.base_of(name)
            told.append(f"{role} {name}{f' at {base}' if base else ''}")
    return ", ".join(told)


def unread(failures: int, answers: int, whose: str) -> str | None:
    """What to say where at least half of the answers are format failures, else None.

    Args:
        failures: Answers whose choice could not be read.
        answers: Of so many.
        whose: Who gave them, in words.
    """
    if not answers or 2 * failures < answers:
        return None
    caps = (
        f"{CAPS['answer']} tokens for answers, probes, bounds and the simulated user, "
        f"{CAPS['reply']} for replies, {CAPS['write']:,} for writes, {CAPS['rewrite']:,} for "
        "rewrites"
    )
    return (
        f"warning: {failures} of {answers} answers of {whose} could not be read and count as "
        f"format failures; a reply is cut off at {caps}, and a model that thinks aloud needs "
        "thinking turned off at its server"
    )


def load_policy(name_or_path: str, agent: str | None = None) -> Policy:
    """A seed policy by name, or a policy file, and that its architecture can be lived by.

    Args:
        name_or_path: Names one.
        agent: A memory system of the user's own, whose policy it may be.

    Raises:
        PolicyFileError: There is no such seed, or the file is not usable.
        AgentError: There is no such agent, or it does not say what evolves of it.
        ConfigError: What the architecture needs is not installed.
    """
    if agent is not None:
        declare_agent(agent)
    looks_like_path = "/" in name_or_path or name_or_path.endswith((".yaml", ".yml"))
    policy = read_policy(name_or_path) if looks_like_path else seed_policy(name_or_path)
    check_usable(policy.architecture)
    return policy
