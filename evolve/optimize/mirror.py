"""A copy of what the search was told, in a database for dashboards; nothing is ever read from it.

The journal stays the truth: every trial is copied after the fact, and a resumed run copies those
that are not there yet. A database that is down costs a run one line of warning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from evolve.optimize.base import Verdict
from evolve.optimize.effects import Told
from evolve.optimize.search import DIRECTIONS, as_trial, gains_of, is_told
from policies.errors import ConfigError
from policies.settings import SETTINGS

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial

CONNECT_SECONDS = 5  # that a server may take to answer, before it counts as down
_OWNER = "run"  # of a study: what identifies the run that it mirrors
_CANDIDATE = "candidate"  # of a trial: the policy's id


class Mirror:
    """One run's study in a database, which other runs may share. Trials hold gains over the seed.

    Args:
        url: Of the database, as SQLAlchemy has it. Its password is never shown.
        name: Of the study: the run's.
        owner: What identifies the run, as another may have the same name.
        say: Tells the watcher a line.

    Raises:
        ConfigError: It is no such URL, or the library for its kind of database is missing.
    """

    def __init__(
        self,
        url: str,
        name: str,
        owner: str,
        say: Callable[[str], None],
    ) -> None:
        self._url = url
        self._shown, self._server = check_url(url)
        self._name = name
        self._owner = owner
        self._say = say
        self._storage: RDBStorage | None = None
        self._verdicts: list[Verdict] = []
        self._waiting: deque[FrozenTrial] = deque()
        self._down = False

    def __enter__(self) -> Self:
        """Make the study, so that dashboards show the run from its beginning."""
        self._send()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Copy what a database that was down has missed, if it is up again."""
        if self._waiting:
            self._send()
        if self._storage is not None:
            self._storage.remove_session()
            self._storage.engine.dispose()

    def observe(self, verdict: Verdict) -> None:
        """Copy a verdict, if it says something of settings."""
        self._verdicts.append(verdict)
        if not is_told(verdict):
            return
        gain = gains_of(self._verdicts)[verdict.candidate]
        settings = [setting for setting in SETTINGS if setting.name in verdict.settings]
        told = Told(verdict.settings, gain, verdict.tokens_per_answer or 0.0)
        trial = as_trial(settings, told)
        for key, value in (
            (_CANDIDATE, verdict.candidate),
            ("operator", verdict.operator),
            ("accepted", verdict.accepted),
            ("reason", verdict.reason),
        ):
            trial.set_user_attr(key, value)
        self._waiting.append(trial)
        if not self._down:
            self._send()

    def _send(self) -> None:
        try:
            self._copy()
        except Exception as error:  # of SQLAlchemy, of Optuna, of any database's own library
            if not self._down:
                self._say(
                    f"warning: the search is not mirrored to {self._shown} ({self._why(error)}); "
                    "nothing else depends on it, and what is missing is tried again at the end"
                )
            self._down = True
        else:
            if self._down:
                self._say(f"the search is mirrored to {self._shown} after all")
            self._down = False

    def _copy(self) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        if self._storage is None:
            # Databases name this differently; others have no server to wait for.
            arguments = {"connect_timeout": CONNECT_SECONDS} if self._server else {}
            self._storage = optuna.storages.RDBStorage(
                self._url, engine_kwargs={"connect_args": arguments}
            )
        study = optuna.create_study(
            storage=self._storage,
            study_name=self._name,
            directions=DIRECTIONS,
            load_if_exists=True,
        )
        owner = study.user_attrs.get(_OWNER)
        if owner is None:
            study.set_user_attr(_OWNER, self._owner)
        elif owner != self._owner:
            raise ValueError(f"its study {self._name} is that of another run")
        there = {trial.user_attrs.get(_CANDIDATE) for trial in study.get_trials(deepcopy=False)}
        while self._waiting:
            if self._waiting[0].user_attrs[_CANDIDATE] not in there:
                study.add_trial(self._waiting[0])
            self._waiting.popleft()

    def _why(self, error: Exception) -> str:
        """The first line of the first cause, which is the database's own word."""
        cause: BaseException = error
        while (earlier := cause.__cause__ or cause.__context__) is not None:
            cause = earlier
        lines = str(cause).strip().splitlines() or [type(cause).__name__]
        return lines[0].replace(self._url, self._shown)


def check_url(url: str) -> tuple[str, bool]:
    """The URL as it may be shown, and whether it is that of a server.

    Raises:
        ConfigError: It is no URL of a database, or the library for its kind is missing.
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    parsed: Any = None
    try:
        parsed = make_url(url)
        parsed.get_dialect().import_dbapi()
    except ImportError as error:
        raise ConfigError(
            f"--storage needs a library for {parsed.drivername}, but {error}; for PostgreSQL "
            "install it with make extras, in the project's folder."
        ) from error
    except (ArgumentError, ValueError):
        # Without its cause, which may show a password.
        raise ConfigError(
            "--storage must be the URL of a database, such as postgresql://HOST/NAME or "
            "sqlite:///FILE, but what is given is none; mend it."
        ) from None
    return parsed.render_as_string(hide_password=True), bool(parsed.host)
