"""Limits on what a policy may take: tokens of its memory, tokens of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from policies.errors import ConfigError
from policies.policy import Policy
from policies.settings import Setting, SettingValue, applicable

LEAST_MEMORY = 200  # tokens: the smallest memory that a policy may be given
_STEP = 0.2  # of what is over a limit must go in a step towards it: less may be chance
_MEMORY = frozenset({"max_memory_tokens", "context_tokens"})  # settings that say how large it gets


@dataclass(frozen=True, slots=True)
class Constraints:
    """Limits of a run; None for no limit.

    The memory of a policy is as large as its settings allow, so that is known before it is scored.
    Tokens per answer are measured.

    Attributes:
        memory_tokens: That a policy may hold, in its memory or, without one, in its history.
        answer_tokens: Per answer, of reply, write and answer calls.
    """

    memory_tokens: int | None = None
    answer_tokens: int | None = None

    def settings_of(self, architecture: str) -> tuple[Setting, ...]:
        """The settings of an architecture, their ranges cut to what is allowed."""
        return tuple(self._cut(setting) for setting in applicable(architecture))

    def allow(self, architecture: str) -> bool:
        """Whether the memory of an architecture can be as small as the limit."""
        limit, settings = self.memory_tokens, applicable(architecture)
        return limit is None or all(s.low <= limit for s in settings if s.name in _MEMORY)

    def fitted(self, policy: Policy) -> Policy:
        """The policy, its memory made small enough where it is too large.

        Raises:
            ConfigError: Its architecture has no memory that small, or none that can be limited.
        """
        if self.memory_tokens is not None and policy.architecture == "mem0":
            raise ConfigError(
                "Architecture mem0 keeps all that it ever wrote, so its memory has no limit, but "
                f"--max-memory-tokens is {self.memory_tokens}; leave it out, or give another "
                "policy."
            )
        lowered: dict[str, SettingValue] = {}
        for setting in applicable(policy.architecture):
            if self._held(setting.name, policy.settings) is None:
                continue
            if self.memory_tokens is None or self.memory_tokens < setting.low:
                raise ConfigError(
                    f"The memory of architecture {policy.architecture} has {setting.low} tokens or "
                    f"more, but --max-memory-tokens is {self.memory_tokens}; give a larger number, "
                    "or another policy."
                )
            lowered[setting.name] = self.memory_tokens
        return policy.derive(settings=lowered) if lowered else policy

    def too_large(self, settings: Mapping[str, SettingValue]) -> str | None:
        """Why the memory of a policy with these settings is too large, or None."""
        for name in settings:
            held = self._held(name, settings)
            if held is not None:
                return f"{name} {held} is over the limit of {self.memory_tokens} tokens of memory"
        return None

    def too_dear(self, tokens: float | None) -> str | None:
        """Why so many tokens per answer are too many, or None; what is not known is not."""
        if self.answer_tokens is None or tokens is None or tokens <= self.answer_tokens:
            return None
        return f"{tokens:.0f} tokens per answer are over the limit of {self.answer_tokens}"

    def nearer(self, tokens: float, than: float) -> bool:
        """Whether tokens per answer over the limit are clearly nearer to it than others over it."""
        limit = than if self.answer_tokens is None else self.answer_tokens
        return tokens - limit <= (1 - _STEP) * (than - limit) and tokens < than

    def _held(self, name: str, settings: Mapping[str, SettingValue]) -> int | None:
        """The value of a setting that lets memory grow over the limit, or None."""
        value = settings[name]
        if name not in _MEMORY or self.memory_tokens is None or not isinstance(value, int):
            return None
        return value if value > self.memory_tokens else None

    def _cut(self, setting: Setting) -> Setting:
        if self.memory_tokens is None or setting.name not in _MEMORY:
            return setting
        return replace(setting, high=max(setting.low, min(setting.high, self.memory_tokens)))


NO_LIMITS = Constraints()
