"""The folder beside an environment file in which it grows, user by user, until it is whole."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from evolve.gym.checked import read_json
from evolve.gym.generating.brief import Brief
from evolve.gym.generating.kinds import Kinds, listed, read_kinds
from evolve.gym.generating.users import Json
from evolve.gym.users import users_of
from evolve.lm.json_text import FormatError
from policies.errors import RunFolderError
from policies.files import write_whole

_ASKED, _STATES, _LOCK = "asked.json", "states.json", "lock"
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Parts:
    """What is made so far.

    Attributes:
        folder: Where it lies.
    """

    folder: Path

    def kinds(self, brief: Brief) -> Kinds | None:
        """The kinds of state, if they are made.

        Raises:
            RunFolderError: The file was changed so that it cannot be used.
        """
        path = self.folder / _STATES
        if not path.exists():
            return None
        try:
            return read_kinds(read_json(path, RunFolderError), brief.state_types)
        except FormatError as error:
            raise RunFolderError(
                f"{path} holds what all users have in common, but {error}; mend it, or remove the "
                "folder and begin again."
            ) from error

    def keep_kinds(self, kinds: Kinds) -> None:
        """Keep the kinds of state; raises as ``keep_user``."""
        self._write(_STATES, listed(kinds))

    def user(self, index: int) -> Json | None:
        """A user, if it is made.

        Raises:
            RunFolderError, EnvironmentFileError: The file was changed so that it cannot be used.
        """
        path = self.folder / _user(index)
        if not path.exists():
            return None
        content = read_json(path, RunFolderError)
        users_of([content], str(path))
        return cast(Json, content)

    def keep_user(self, index: int, user: Json) -> None:
        """Keep a user.

        Raises:
            RunFolderError: The disk refused it.
        """
        self._write(_user(index), user)

    def failures(self, what: str) -> int:
        """How often something (``states``, or a user's ``name_of``) could not be made."""
        path = self.folder / _failed(what)
        if not path.exists():
            return 0
        reasons = read_json(path, RunFolderError)
        return len(reasons) if isinstance(reasons, list) else 0

    def keep_failure(self, what: str, reason: str) -> None:
        """Keep why something could not be made; the next try of it will draw anew."""
        path = self.folder / _failed(what)
        before = read_json(path, RunFolderError) if path.exists() else []
        reasons = before if isinstance(before, list) else []
        self._write(_failed(what), [*reasons, reason])

    def _write(self, name: str, content: object) -> None:
        path = self.folder / name
        try:
            write_whole(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise RunFolderError(
                f"What is made must be kept, but {path} cannot be written ({error.strerror}); free "
                "space or mend the folder, then give the same command again."
            ) from error


def parts_of(out: Path) -> Path:
    """The folder in which an environment file grows: ``travel.parts`` for ``travel.json``."""
    return out.with_suffix(".parts")


def missing(folder: Path, users: int) -> int:
    """How many of so many users are not made yet."""
    return sum(not (folder / _user(index)).exists() for index in range(users))


def check_same(folder: Path, brief: Brief, model: str) -> None:
    """Check that what lies in a folder, if anything, was made from one brief by one model.

    Raises:
        RunFolderError: It was made from another brief, or by another model.
    """
    path = folder / _ASKED
    if not path.exists():
        return
    found = read_json(path, RunFolderError)
    before = found if isinstance(found, dict) else {}
    for name, value in _asked(brief, model).items():
        if before.get(name) != value:
            raise RunFolderError(
                f"{folder} holds parts that were made with --{name} {before.get(name)!r}, not "
                f"{value!r}; give the same options, or another path as --out."
            )


def name_of(index: int) -> str:
    """What the parts of a user are called."""
    return f"user-{index:04d}"


@contextmanager
def opened(folder: Path, brief: Brief, model: str) -> Iterator[Parts]:
    """The parts of an environment, locked for this process; the folder is made if it is not there.

    Args:
        folder: Where they lie.
        brief: What is to be made.
        model: Its maker's name.

    Raises:
        RunFolderError: The folder cannot be used, is in use, or holds parts of something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise RunFolderError(
            f"An environment grows in a folder beside its file, but {folder} cannot be used "
            f"({error.strerror}); give another path as --out."
        ) from error
    try:
        _lock(lock, folder)
        parts = Parts(folder)
        check_same(folder, brief, model)
        if not (folder / _ASKED).exists():
            parts._write(_ASKED, _asked(brief, model))
        yield parts
    finally:
        os.close(lock)


def _lock(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise RunFolderError(
            f"One command makes an environment at a time, but another one is at work in {folder}; "
            "wait for its end, or give another path as --out."
        ) from error


def _asked(brief: Brief, model: str) -> dict[str, object]:
    """What identifies an environment."""
    return {"schema": _SCHEMA, "model": model, **asdict(brief)}


def _user(index: int) -> str:
    return f"{name_of(index)}.json"


def _failed(what: str) -> str:
    return f"{what}.failed.json"
