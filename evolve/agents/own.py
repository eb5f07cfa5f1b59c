"""Memory systems of one's own: a class named ``package:Class``, loaded, declared, and watched.

Such a class follows ``evolve.agents.base.MemoryAgent``, is made with a ``Speaker``, and says what
evolves of it in two attributes: ``texts``, name to prompt, among ``feedback.routing.PARTS``, and
``settings``, name to value, among ``policies.settings.SETTINGS``. Its name is the architecture of
its policies.
"""

from __future__ import annotations

import re
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

from evolve.agents.base import MemoryAgent, Prepared, Query
from evolve.agents.common import Speaker
from evolve.agents.typed import misfit, text_misfit
from feedback.records import ChatMessage, Entry, Write
from feedback.routing import PARTS
from policies.declared import Declared, declare
from policies.errors import AgentError, MnemotuneError, PolicyFileError
from policies.policy import Policy, seed_policy
from policies.settings import SETTINGS
from policies.shown import short

_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_TEXTS = tuple(part for part in PARTS if part != "settings")
_METHODS = ("reply", "prepare", "observe")
_given: dict[str, type[Any]] = {}  # classes that were handed over, not named, as in a notebook
_RULE = "An agent must not raise errors of its own, but "
_NEXT = "mend it, try it with python -m evolve.check_agent {name}, and resume the run."
Result = TypeVar("Result")


def declare_agent(name: str) -> Policy:
    """Load a class and make its architecture known to this process.

    Args:
        name: Such as ``my_package.memory:Notebook``.

    Returns:
        Its seed policy.

    Raises:
        AgentError: There is no such class, or it does not say what evolves of it.
    """
    found = load_class(name)
    texts = _mapping(found, "texts", name, _TEXTS)
    settings = _mapping(found, "settings", name, [setting.name for setting in SETTINGS])
    if not texts and not settings:
        raise AgentError(
            f"An agent must say what evolves of it, but {name} has neither texts nor settings; "
            "give it one of these class attributes."
        )
    wanted = {setting.name: setting for setting in SETTINGS}
    for key, value in settings.items():
        if not wanted[key].accepts(value):
            raise AgentError(
                f"Setting {key} {wanted[key].rule}, but {name} has {short(value)}; change it."
            )
    in_order = {part: texts[part] for part in _TEXTS if part in texts}
    declare(name, Declared(in_order, settings))
    try:
        return seed_policy(name)
    except PolicyFileError as error:
        raise AgentError(f"The texts of an agent are those of a policy, but {error}") from error


def declare_class(given: type[Any]) -> str:
    """Make a class known that is there already, such as one of a notebook.

    Returns:
        Its name as an architecture.

    Raises:
        AgentError: It does not say what evolves of it.
    """
    name = f"{given.__module__}:{given.__qualname__.rpartition('.')[2]}"
    _given[name] = given
    declare_agent(name)
    return name


def load_class(name: str) -> type[Any]:
    """The class that a name stands for.

    Raises:
        AgentError: The name is none, the module cannot be imported, or has no such class.
    """
    if name in _given:
        return _given[name]
    if not _NAME.fullmatch(name):
        raise AgentError(
            f"--agent must be a class as package:Class, but is {short(name)}; name the module,"
            " a colon and the class."
        )
    module_name, _, class_name = name.partition(":")
    try:
        module = import_module(module_name)
    except BaseException as error:
        _pass_on(error)
        raise AgentError(
            f"--agent names a class that can be imported, but importing {module_name} from "
            f"{sys.path[0] or 'the current folder'} fails ({_what(error)}); mend it, or run where "
            "it can be imported."
        ) from error
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        there = ", ".join(
            key
            for key, one in vars(module).items()
            if isinstance(one, type) and one.__module__ == module_name
        )
        raise AgentError(
            f"--agent must name a class, but {module_name} has no class {class_name}; its classes "
            f"are: {there[:200] or 'none'}."
        )
    return found


def own_agent(speaker: Speaker) -> MemoryAgent:
    """An agent of the class that the policy's architecture names, for one rollout.

    Raises:
        AgentError: It cannot be made, or lacks a method.
    """
    name = speaker.policy.architecture
    found = load_class(name)
    missing = [method for method in _METHODS if not callable(getattr(found, method, None))]
    if missing:
        raise AgentError(
            f"An agent has the methods {', '.join(_METHODS)}, but {name} lacks "
            f"{', '.join(missing)}; see evolve.agents.base.MemoryAgent."
        )
    return WatchedAgent(name, _watched(name, "its making", lambda: found(speaker)))


class WatchedAgent:
    """Somebody's agent; what it raises by mistake ends the run in one sentence.

    Args:
        name: Its architecture.
        inner: The agent.
    """

    def __init__(self, name: str, inner: MemoryAgent) -> None:
        self._name = name
        self._inner = inner

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry ever made."""
        made = _watched(self._name, "entries", lambda: tuple(self._inner.entries))
        return self._fitting("entries", Entry, made)

    @property
    def writes(self) -> tuple[Write, ...]:
        """Every write so far."""
        made = _watched(self._name, "writes", lambda: tuple(self._inner.writes))
        return self._fitting("writes", Write, made)

    def reply(self, message: ChatMessage) -> str:
        """Answer the user's message."""
        said = _watched(self._name, "reply", lambda: self._inner.reply(message))
        found = text_misfit(said)
        if found:
            raise AgentError(
                f"reply returns text, but that of {self._name} returned {found}; mend it."
            )
        return said

    def prepare(self, query: Query) -> Prepared:
        """How to ask a question or a probe."""
        made = _watched(self._name, "prepare", lambda: self._inner.prepare(query))
        found = misfit(Prepared, made)
        if found:
            raise AgentError(
                f"prepare returns a Prepared, but that of {self._name} returned {found}; mend it."
            )
        return made

    def observe(self, messages: Sequence[ChatMessage]) -> None:
        """Take note of messages."""
        _watched(self._name, "observe", lambda: self._inner.observe(messages))

    def _fitting(
        self, what: str, kind: type[Result], made: tuple[Result, ...]
    ) -> tuple[Result, ...]:
        """Records as they are, where all can be kept."""
        for number, one in enumerate(made):
            found = misfit(kind, one)
            if found:
                raise AgentError(
                    f"{what} of an agent are records of the kind {kind.__name__}, but number "
                    f"{number} of {self._name} is {found}; mend it."
                )
        return made


def _watched(name: str, what: str, call: Callable[[], Result]) -> Result:
    """Call into somebody's class; errors that the loop knows pass through."""
    try:
        return call()
    except MnemotuneError:
        raise
    except BaseException as error:
        _pass_on(error)
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise AgentError(
            f"{_RULE}{what} of {name} raised {_what(error)} in {last.filename}, line "
            f"{last.lineno}; {_NEXT.format(name=name)}"
        ) from error


def without_advice(told: str, name: str) -> str:
    """What a class raised, without the rule and the next step: for who is trying it already.

    Args:
        told: In a sentence; one that tells of something else stays as it is.
        name: Of the class.
    """
    return told.removeprefix(_RULE).removesuffix(f"; {_NEXT.format(name=name)}")


def _pass_on(error: BaseException) -> None:
    """Raise again what is no mistake of somebody's class: Ctrl-C, where nobody handles its signal.

    A class that exits would otherwise end the command as if all were well.
    """
    by_hand = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if isinstance(error, KeyboardInterrupt) and by_hand:
        raise error
    if not isinstance(error, Exception | SystemExit | KeyboardInterrupt):
        raise error


def _mapping(found: type[Any], attribute: str, name: str, known: Sequence[str]) -> dict[str, Any]:
    value = getattr(found, attribute, {})
    if not isinstance(value, Mapping):
        raise AgentError(
            f"{attribute} of an agent maps names to values, but that of {name} is "
            f"{short(value)}; write it as a dict."
        )
    for key in value:
        if key not in known:
            raise AgentError(
                f"{attribute} of an agent are among {', '.join(known)}, but {name} has "
                f"{short(key)}; rename or remove it."
            )
    return dict(value)


def _what(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # of somebody's __str__
        said = "which cannot be shown"
    return f"{type(error).__name__}: {said}"[:300]
