"""Where the users of a run come from: an environment file, dialogues, or chats and their probes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evolve.gym.checked import read_bytes
from evolve.gym.overlap import RIGHT
from evolve.gym.people import User
from evolve.gym.recorded import OFF_POLICY
from evolve.gym.users import file_digest, load_users
from evolve.locomo.reading import is_locomo
from policies.errors import ConfigError, EnvironmentFileError

if TYPE_CHECKING:
    from evolve.config import Options


@dataclass(frozen=True, slots=True)
class Environment:
    """Users and what must be known of them.

    Attributes:
        users: At least one.
        digest: Of the files that they were read from, 16 hex digits.
        notes: What every report on them must say.
    """

    users: tuple[User, ...]
    digest: str
    notes: tuple[str, ...] = ()


def without_answers(options: Options) -> bool:
    """Whether settings are searched by the evidence of questions, which no model answers."""
    return not options.models.real and options.probes is None and is_locomo(options.env_path)


def load_environment(env: str, probes: str | None = None) -> Environment:
    """Read and check an environment.

    Args:
        env: Path of an environment file, whose layout, AMemGym's or LoCoMo's, is told by its
            content; of a file of chats where there are probes.
        probes: Path of a file of probes.

    Raises:
        EnvironmentFileError: A file cannot be read or breaks a rule.
        ConfigError: Chats come without probes.
    """
    if probes is not None:
        return _own_chats(env, probes)
    if env.endswith(".jsonl"):
        raise ConfigError(
            f"Chats need probes of what is true of their users, but --env is {env} and --probes is "
            "missing; give a file of probes."
        )
    if is_locomo(env):
        return _dialogues(env)
    return Environment(load_users(env), file_digest(env))


def environment_digest(env: str, probes: str | None = None) -> str:
    """The digest that ``load_environment`` gives; errors of reading as there."""
    if probes is None:
        return file_digest(env)
    data = (read_bytes(path, EnvironmentFileError) for path in (env, probes))
    return hashlib.sha256(b"".join(hashlib.sha256(one).digest() for one in data)).hexdigest()[:16]


def _dialogues(env: str) -> Environment:
    """LoCoMo's dialogues, with questions asked when they are due, so that time may be split."""
    from evolve.field import FEWEST_PERIODS
    from evolve.locomo.reading import load_dialogues, odd_lines
    from evolve.locomo.users import users_of

    dialogues = load_dialogues(env)
    due = (
        f"every dialogue is parted into {FEWEST_PERIODS} periods, and a question asked once, at "
        f"the end of that in which the last of its evidence was said; {RIGHT}"
    )
    users = users_of(dialogues, FEWEST_PERIODS)
    return Environment(users, file_digest(env), (*odd_lines(dialogues), due, OFF_POLICY))


def _own_chats(env: str, probes: str) -> Environment:
    from evolve.chats.kinds import looks_like
    from evolve.chats.probing import probes_of
    from evolve.chats.reading import chats_of
    from evolve.chats.users import users_of_chats
    from evolve.config import SAMPLE, environment_path

    if env == environment_path(SAMPLE):
        raise ConfigError(
            f"--probes belongs to a file of chats, but is {probes} while --env is the packaged "
            "sample; name your chats by --env, or leave --probes out."
        )
    said, true = (read_bytes(path, EnvironmentFileError) for path in (env, probes))
    if looks_like(said) == "probes" and looks_like(true) == "chats":
        raise ConfigError(
            f"--env names the chats and --probes what is true of their users, but {env} looks like "
            f"probes and {probes} like chats; swap the two."
        )
    chats = chats_of(said, env)
    users = users_of_chats(chats.talks, probes_of(true, probes))
    asked = sum(len(user.asked_in(p)) for user in users for p in range(len(user.periods)))
    talks = sum(len(of_user) for of_user in chats.talks.values())
    asking = "has" if len(users) == 1 else "have"
    found = (
        f"{_counted(talks, 'conversation')} of {_counted(len(chats.talks), 'user')}; {len(users)} "
        f"{asking} probes, which ask {_counted(asked, 'question')}; messages left out, of tools or "
        f"without text: {chats.left_out}"
    )
    return Environment(users, environment_digest(env, probes), (found, OFF_POLICY))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
