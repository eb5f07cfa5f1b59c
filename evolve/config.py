"""A run's options: what the command line says, checked, and what of it identifies the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from typing import Any, Literal

from policies.errors import ConfigError

STRATEGIES = ("joint", "placebo")
HOLDOUTS = ("auto", "users", "periods")
MODELS = ("offline",)
SAMPLE = "sample"
RANGES: Mapping[str, tuple[int, int | None]] = {
    "budget": (1, None),
    "seed": (0, None),
    "first_rounds": (1, 50),  # a session of 50 rounds is a long day's talk already
    "later_rounds": (1, 50),
}


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked to do; two runs of equal options give the same bytes.

    Attributes:
        budget: Rollouts, at least 1.
        env: Path of an environment file, or ``sample`` for the packaged one.
        policy: Name of a seed policy, or path of a policy file.
        model: Name of the model.
        strategy: ``joint``, or ``placebo``, which measures what mere extra slots buy.
        holdout: ``users``, ``periods``, or ``auto``: users where the gate could then pass anything.
        seed: Of every random choice, 0 or above.
        first_rounds: Rounds of a session in the first period, at least 1.
        later_rounds: Rounds of a session in later periods, at least 1.
    """

    budget: int
    env: str = SAMPLE
    policy: str = "awe"
    model: str = "offline"
    strategy: str = "joint"
    holdout: Literal["auto", "users", "periods"] = "auto"
    seed: int = 0
    first_rounds: int = 1
    later_rounds: int = 2

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            check_range(name, getattr(self, name), least, most)
        for name, known in (("strategy", STRATEGIES), ("holdout", HOLDOUTS), ("model", MODELS)):
            value = getattr(self, name)
            if value not in known:
                raise ConfigError(
                    f"--{name} must be one of {', '.join(known)}, but is {value!r}; name one of "
                    "these."
                )

    @property
    def env_path(self) -> str:
        """Where the environment file is."""
        return environment_path(self.env)

    def as_dict(self) -> dict[str, Any]:
        """All options by name, JSON-able."""
        return asdict(self)


def environment_path(env: str) -> str:
    """Where an environment file is: ``sample`` names the packaged one."""
    return str(files("evolve.gym").joinpath("data", "sample.json")) if env == SAMPLE else env


def check_range(option: str, value: int, least: int, most: int | None = None) -> None:
    """Check an option that is a number.

    Raises:
        ConfigError: It is smaller than ``least`` or larger than ``most``.
    """
    named = f"--{option.replace('_', '-')}"
    if value < least:
        raise ConfigError(
            f"{named} must be at least {least}, but is {value}; give a larger number."
        )
    if most is not None and value > most:
        raise ConfigError(f"{named} must be at most {most}, but is {value}; give a smaller number.")


def merge_options(past: Mapping[str, Any] | None, given: Mapping[str, Any]) -> Options:
    """Options given now over those of the run that is resumed, if any.

    Raises:
        ConfigError: No budget is given, or a value lies outside its range.
    """
    known = {field.name for field in fields(Options)}
    kept = {name: value for name, value in (past or {}).items() if name in known}
    merged = {**kept, **given}
    if "budget" not in merged:
        raise ConfigError("A run needs a budget, but --budget is missing; try --budget 300.")
    return Options(**merged)
