"""What commands read, and what they say of it: policies by name or file, models, environments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evolve.agents.own import declare_agent
from evolve.agents.registry import check_usable
from evolve.lm.base import CAPS
from evolve.roles import Models
from policies.errors import PolicyFileError
from policies.policy import Policy, read_policy, seed_policy

if TYPE_CHECKING:
    from evolve.importing.imported import Imported
    from evolve.tables import Table

IMPORTED = frozenset({".txt", ".md", ".prompt", ".json"})
"""Endings of what a policy is made of where one is asked for; policy files are YAML."""
_YAML = frozenset({".yaml", ".yml"})
_RUNS = Path("runs")  # where runs are if nothing else is said

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
    """A seed policy, a policy file or an imported prompt, whose architecture can be lived by.

    Args:
        name_or_path: Names one.
        agent: A memory system of the user's own, whose policy it may be.

    Raises:
        PolicyFileError: There is no such seed, or the file is not usable.
        ImportSourceError: No policy can be made of what is not a policy file.
        AgentError: There is no such agent, or it does not say what evolves of it.
        ConfigError: What the architecture needs is not installed.
    """
    if agent is not None:
        declare_agent(agent)
    policy = _read(name_or_path)
    check_usable(policy.architecture)
    return policy


def read_policy_file(path: Path) -> Policy:
    """A policy file that a user names.

    Raises:
        PolicyFileError: It is not usable; of what looks like something else, where that goes.
    """
    from evolve.importing.source import other_kind

    try:
        return read_policy(path)
    except PolicyFileError:
        kind = other_kind(path)
        if kind is None:
            raise
    raise PolicyFileError(
        f"{path}: a policy file has the keys schema, architecture and texts, but this one has none "
        f"of them and looks like {kind}; python -m evolve.import_policy makes a policy of a prompt "
        "or of a configuration of mem0 or AMemGym."
    )


def imported_table(name_or_path: str) -> Table | None:
    """What was found in the prompt or configuration that a policy is made of; None for others.

    Raises:
        ImportSourceError: No policy can be made of it.
    """
    path = Path(name_or_path)
    return _imported(path).table if path.suffix.lower() in IMPORTED else None


def _imported(path: Path) -> Imported:
    from evolve.importing.source import import_source

    return import_source(path)


def _read(name_or_path: str) -> Policy:
    path = Path(name_or_path)
    ending = path.suffix.lower()
    if ending in IMPORTED:
        return _imported(path).policy
    if ending and ending not in _YAML and os.path.isfile(path):
        return _of_other_ending(path)
    if "/" not in name_or_path and ending not in _YAML:
        try:
            return seed_policy(name_or_path)
        except PolicyFileError as error:
            raise PolicyFileError(_best_of(_RUNS / name_or_path) or str(error)) from error
    said = _best_of(path)
    if said is not None:
        raise PolicyFileError(said)
    return read_policy_file(path)


def _of_other_ending(path: Path) -> Policy:
    """A policy file whose name ends in another way.

    Raises:
        PolicyFileError: It is none; what can be given instead.
    """
    from evolve.chats.kinds import looks_like
    from evolve.gym.checked import read_bytes

    try:
        return read_policy(path)
    except PolicyFileError as error:
        if looks_like(read_bytes(path, PolicyFileError)) == "chats":
            raise PolicyFileError(
                f"{path}: --policy takes a policy, but this looks like conversations; give it as "
                "--env, with --probes, and a policy or a seed such as awe as --policy."
            ) from error
        raise PolicyFileError(
            f"{path}: a policy is read from a policy file (.yaml, .yml), a prompt (.txt, .md, "
            ".prompt) or a configuration of mem0 or AMemGym (.json), but this ends in "
            f"{path.suffix}; rename a prompt to .txt."
        ) from error


def _best_of(folder: Path) -> str | None:
    """What to say where a run stands for a policy; None where there is no run."""
    from evolve.folder import BEST
    from evolve.journal import FILE

    if not os.path.isfile(folder / FILE):
        return None
    best = folder / BEST
    if not os.path.isfile(best):
        return (
            f"{folder}: a run gives its best policy at its end, but this one has no {BEST}; go on "
            f"with python -m evolve.loop --resume {folder}."
        )
    return f"{folder}: a policy is a file, but this is a run; its best policy is {best}."
