"""What commands read, and what they say of it: policies by name or file, models, environments."""

from __future__ import annotations

from evolve.config import Models
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
    """Which model plays which role, in one line."""
    roles = {"model": models.model, "user": models.user_model, "rewriter": models.rewrite_model}
    others = (f"{role} {name}" for role, name in roles.items() if name != models.model)
    where = f" at {models.api_base}" if models.api_base else ""
    return ", ".join([f"model {models.model}", *others]) + where


def load_policy(name_or_path: str) -> Policy:
    """A seed policy by name, or a policy file.

    Raises:
        PolicyFileError: There is no such seed, or the file is not usable.
    """
    looks_like_path = "/" in name_or_path or name_or_path.endswith((".yaml", ".yml"))
    return read_policy(name_or_path) if looks_like_path else seed_policy(name_or_path)
