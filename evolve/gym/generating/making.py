"""Makes all users of an environment side by side; one that fails is reported, the others stay."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from evolve.gym.generating.author import Author, UnmendedError
from evolve.gym.generating.brief import Brief
from evolve.gym.generating.kinds import Kinds, make_kinds
from evolve.gym.generating.parts import Parts, missing, name_of
from evolve.gym.generating.users import Json, make_user
from evolve.lm.base import LM, Completion, Request
from evolve.seeding import derive
from policies.errors import (
    GenerationError,
    OutsideFailureError,
    PolicyFailureError,
    RunStoppedError,
    UserError,
)

_STATES = "states"
_Failure = (UnmendedError, PolicyFailureError, OutsideFailureError)


@dataclass(frozen=True, slots=True)
class Failed:
    """A user that could not be made, and why; ``index`` is its place, from 0."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Made:
    """What came of it.

    Attributes:
        users: That are made, in their order.
        failed: The others.
    """

    users: tuple[Json, ...]
    failed: tuple[Failed, ...]


class _Stoppable:
    """An LM that makes no more calls once it was asked to stop.

    Args:
        lm: Answers until then.
        asked: Whether it was.

    Attributes:
        ended: Set when no user can be made any more.
    """

    def __init__(self, lm: LM, asked: Callable[[], bool]) -> None:
        self._lm = lm
        self._asked = asked
        self.ended = threading.Event()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._lm.name

    def complete(self, request: Request) -> Completion:
        """Answer, or raise ``RunStoppedError``."""
        if self.ended.is_set() or self._asked():
            raise RunStoppedError("no more calls are to be made")
        return self._lm.complete(request)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where users are made.

    Attributes:
        brief: What all of them have in common.
        lm: Writes them.
        parts: Keeps them.
        threads: How many are made at once, at least 1.
        say: Tells a line; called by several threads.
        asked: Whether to stop.
    """

    brief: Brief
    lm: LM
    parts: Parts
    threads: int
    say: Callable[[str], None]
    asked: Callable[[], bool] = lambda: False

    def make(self, count: int) -> Made:
        """Make users 0 to ``count`` - 1 as far as they are not there yet.

        Raises:
            GenerationError: What all users have in common could not be made.
            RunStoppedError: It was asked to stop; what is made is kept.
            UserError: No call can succeed, or nothing can be kept.
        """
        lm = _Stoppable(self.lm, self.asked)
        kinds = self._kinds(lm)
        threads = min(self.threads, count)
        left = missing(self.parts.folder, count)
        if left:
            self.say(f"users: {left} to make, {min(threads, left)} at a time")
        with ThreadPoolExecutor(threads, thread_name_prefix="users") as pool:
            begun = [pool.submit(self._user, lm, kinds, index) for index in range(count)]
        # One that ended them all tells more than those that stopped for it.
        errors = [error for one in begun if (error := one.exception()) is not None]
        for error in sorted(errors, key=lambda error: isinstance(error, RunStoppedError)):
            raise error
        found = [one.result() for one in begun]
        return Made(
            tuple(one for one in found if not isinstance(one, Failed)),
            tuple(one for one in found if isinstance(one, Failed)),
        )

    def _kinds(self, lm: LM) -> Kinds:
        kinds = self.parts.kinds(self.brief)
        if kinds is not None:
            return kinds
        try:
            kinds = make_kinds(self._author(lm, _STATES))
        except _Failure as error:
            self._note(_STATES, error)
            raise GenerationError(
                "All users need kinds of state in common, but the model could not write them "
                f"({error}); give the same command again for another try, or name another model."
            ) from error
        self.parts.keep_kinds(kinds)
        self.say(f"states: {', '.join(kind.name for kind in kinds)}")
        return kinds

    def _user(self, lm: _Stoppable, kinds: Kinds, index: int) -> Json | Failed:
        """A user from before, or made now; what would fail for all users ends them all."""
        try:
            return self._one(lm, kinds, index)
        except UserError:
            lm.ended.set()
            raise

    def _one(self, lm: LM, kinds: Kinds, index: int) -> Json | Failed:
        user = self.parts.user(index)
        if user is not None:
            return user
        try:
            user = make_user(self._author(lm, name_of(index)), kinds, self._id(index))
        except _Failure as error:
            self._note(name_of(index), error)
            self.say(f"user {index}: failed")
            return Failed(index, str(error))
        self.parts.keep_user(index, user)
        self.say(f"user {index}: made")
        return user

    def _author(self, lm: LM, what: str) -> Author:
        """Draws anew after every failure, or the same replies would fail again."""
        failures = self.parts.failures(what)
        return Author(lm, self.brief, derive(self.brief.seed, "generate", what, failures))

    def _note(self, what: str, error: Exception) -> None:
        """Keep a failure of content; after one from outside the same calls are made again."""
        if not isinstance(error, OutsideFailureError):
            self.parts.keep_failure(what, str(error))

    def _id(self, index: int) -> str:
        words = re.sub(r"\W+", "-", self.brief.domain.casefold()).strip("-")[:40]
        return f"{words or 'made'}-{self.brief.seed}-{index:04d}"


def reasons(failed: Sequence[Failed]) -> list[str]:
    """Failures as lines for people."""
    return [f"user {one.index} is missing: {one.reason}" for one in failed]
