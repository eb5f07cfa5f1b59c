"""Settings: the numbers and choices of a policy, what they apply to and what they may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from policies.declared import declared
from policies.errors import PolicyFileError
from policies.shown import short

SettingValue = int | str | bool | None

_OWN_STORES = frozenset({"rag", "awe"})
_STORES = _OWN_STORES | {"mem0"}
_BOUNDED = frozenset({"rag", "awe", "awi"})
_BUFFERED = _BOUNDED | {"mem0"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: a choice among ``values``, or else an integer of a range.

    Attributes:
        name: As in a policy file.
        architectures: Those that it applies to.
        default: Its value where a policy does not say.
        meaning: One line, with its unit.
        values: The choices in their natural order; empty for an integer.
        low: Smallest integer.
        high: Largest integer, included.
        step: Distance between allowed integers, counted from ``low``.
        optional: Whether None ("off") is allowed beside the integers.
    """

    name: str
    architectures: frozenset[str]
    default: SettingValue
    meaning: str
    values: tuple[SettingValue, ...] = ()
    low: int = 0
    high: int = 0
    step: int = 1
    optional: bool = False

    @property
    def kind(self) -> str:
        """``"choice"`` or ``"integer"``."""
        return "choice" if self.values else "integer"

    def accepts(self, value: object) -> bool:
        """Whether a value is allowed: strictly by type, so True is not 1 and 2.0 is not 2."""
        if self.values:
            return any(type(value) is type(choice) and value == choice for choice in self.values)
        if value is None:
            return self.optional
        return (
            type(value) is int
            and self.low <= value <= self.high
            and (value - self.low) % self.step == 0
        )

    @property
    def rule(self) -> str:
        """What is allowed, as the end of a sentence that starts with the setting's name."""
        if self.values:
            return "must be one of " + ", ".join(as_text(choice) for choice in self.values)
        multiple = f" in steps of {self.step}" if self.step > 1 else ""
        none = ", or null" if self.optional else ""
        return f"must be a whole number from {self.low} to {self.high}{multiple}{none}"


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "write_every",
        _BUFFERED,
        2,
        "messages written at a time, once the buffer holds so many beyond local_window",
        values=(2, 4, 8),
    ),
    Setting(
        "local_window",
        _BUFFERED,
        4,
        "messages that stay in context, unwritten",
        low=0,
        high=16,
        step=2,
    ),
    Setting("top_k", _STORES, 30, "entries retrieved", low=1, high=50),
    Setting(
        "retriever",
        _OWN_STORES,
        "bm25",
        "how entries are found; hybrid is reciprocal rank fusion of the other two",
        values=("bm25", "ngram", "hybrid"),
    ),
    Setting(
        "recency_half_life",
        _OWN_STORES,
        None,
        "sessions after which an entry's score is halved; null for never",
        low=1,
        high=32,
        optional=True,
    ),
    Setting(
        "granularity",
        frozenset({"rag"}),
        "message",
        "what an entry is",
        values=("sentence", "message", "session"),
    ),
    Setting(
        "supersede",
        frozenset({"awe"}),
        False,
        "whether a fact under the same label retires the one before it",
        values=(False, True),
    ),
    Setting(
        "memory_order",
        _OWN_STORES,
        "time",
        "order of the retrieved entries in the prompt",
        values=("time", "relevance"),
    ),
    Setting(
        "max_memory_tokens",
        _BOUNDED,
        2000,
        "tokens of memory; over it the entry longest without update is retired",
        low=200,
        high=8000,
    ),
    Setting(
        "threshold",
        frozenset({"mem0"}),
        10,
        "similarity to the query, in hundredths, below which an entry is not retrieved",
        low=0,
        high=90,
        step=5,
    ),
    Setting(
        "infer",
        frozenset({"mem0"}),
        True,
        "whether a model extracts facts from messages; else they are stored as they were said",
        values=(False, True),
    ),
    Setting(
        "context_tokens",
        frozenset({"native"}),
        8000,
        "tokens of history that fit, counted back from its end",
        low=1000,
        high=128000,
    ),
)
"""Every setting there is, in the order in which files list them."""


def applicable(architecture: str) -> tuple[Setting, ...]:
    """The settings that apply to an architecture, in file order."""
    own = declared(architecture)
    if own is None:
        return tuple(setting for setting in SETTINGS if architecture in setting.architectures)
    return tuple(
        replace(setting, default=cast("SettingValue", own.settings[setting.name]))
        for setting in SETTINGS
        if setting.name in own.settings
    )


def check(architecture: str, settings: Mapping[str, object]) -> dict[str, SettingValue]:
    """Check settings from outside and complete them with defaults.

    Args:
        architecture: A known architecture.
        settings: Name to value, as read.

    Returns:
        Every applicable setting, in file order.

    Raises:
        PolicyFileError: A setting is unknown or does not apply, or a value is not allowed.
    """
    known = {setting.name: setting for setting in applicable(architecture)}
    for name in settings:
        if name not in known:
            raise PolicyFileError(_misplaced(architecture, name, tuple(known)))
    return {
        name: _checked(setting, settings.get(name, setting.default))
        for name, setting in known.items()
    }


def as_text(value: SettingValue) -> str:
    """A value as it is written in a policy file: ``null``, ``true``, ``8``, ``bm25``."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(setting: Setting, value: object) -> SettingValue:
    if not setting.accepts(value):
        raise PolicyFileError(
            f"setting {setting.name} {setting.rule}, not {short(value)}; change it, or remove"
            f" it for the default {as_text(setting.default)}"
        )
    assert value is None or isinstance(value, int | str)  # accepts() has said so
    return value


def _misplaced(architecture: str, name: object, known: tuple[str, ...]) -> str:
    allowed = ", ".join(known) or "none at all"
    where = [setting.architectures for setting in SETTINGS if setting.name == name]
    if where:
        return (
            f"setting {name} applies to {', '.join(sorted(where[0]))} and not to architecture"
            f" {architecture}; remove it (settings here: {allowed})"
        )
    return (
        f"architecture {architecture} has no setting {short(name)}; remove it or use one of"
        f" its settings ({allowed})"
    )
