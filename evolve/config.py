"""A run's options: what the command line says, checked, and what of it identifies the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from typing import Any, Literal

from evolve.means import Means
from evolve.optimize.constraints import LEAST_MEMORY, Constraints
from evolve.optimize.strategy import GATED, STRATEGIES
from evolve.ranges import check_range, known_fields
from evolve.roles import OFFLINE, Models, make_models
from evolve.units import METERED, Amounts, parse_units, write_units
from policies.errors import ConfigError

HOLDOUTS = ("auto", "users", "periods")
SCOPES = ("global", "user")
LEVELS = ("none", "questions", "complete")  # of feedback, in scope user
OWN_STRATEGY = "self-evolution"  # of scope user
ARCHITECTURES = ("same", "any")  # of candidates: the seed's, or any
_CHOICES: Mapping[str, Collection[str]] = {
    "strategy": STRATEGIES,
    "holdout": HOLDOUTS,
    "scope": SCOPES,
    "feedback": LEVELS,
    "architecture": ARCHITECTURES,
}
SAMPLE = "sample"
RANGES: Mapping[str, tuple[int, int | None]] = {
    "seed": (0, None),
    "first_rounds": (1, 50),  # a session of 50 rounds is a long day's talk already
    "later_rounds": (1, 50),
    "max_memory_tokens": (LEAST_MEMORY, None),
    "max_answer_tokens": (1, None),
}


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked to do; two runs of equal options give the same bytes.

    Attributes:
        budget: Rollouts, at least 1, or what ``evolve.units`` reads, such as ``300,$5,30min``: the
            first that is reached ends the run.
        env: Path of an environment file, or ``sample`` for the packaged one; with ``probes`` that
            of a file of chats.
        policy: Name of a seed policy, or path of a policy file.
        models: Who plays which role.
        strategy: Name of one of ``evolve.optimize.strategy.STRATEGIES``.
        holdout: ``users``, ``periods``, or ``auto``: users where the gate could then pass anything.
        seed: Of every random choice, 0 or above.
        first_rounds: Rounds of a session in the first period, at least 1.
        later_rounds: Rounds of a session in later periods, at least 1.
        scope: ``global``: one policy for all users; ``user``: one for each, learned as it lives.
        feedback: Of scope ``user``: what is told after a period, one of ``LEVELS``.
        probes: Path of a file of probes of the chats; None where ``env`` holds simulated users.
        architecture: ``same``: of all candidates that of the seed; ``any``: some move to another.
        agent: A memory system of one's own as ``package:Class``, whose policies evolve; or None.
        max_memory_tokens: That the memory of a policy may hold, at least 200; None for no limit.
        max_answer_tokens: That a policy may take per answer, at least 1; None for no limit.
    """

    budget: int | str
    env: str = SAMPLE
    policy: str = "awe"
    models: Models = field(default_factory=Models)
    strategy: str = "joint"
    holdout: Literal["auto", "users", "periods"] = "auto"
    seed: int = 0
    first_rounds: int = 1
    later_rounds: int = 2
    architecture: Literal["same", "any"] = "same"
    max_memory_tokens: int | None = None
    max_answer_tokens: int | None = None
    scope: Literal["global", "user"] = "global"
    feedback: Literal["none", "questions", "complete"] = "complete"
    probes: str | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        # In its one shortest form, so that a run is the same however its budget was written.
        object.__setattr__(self, "budget", write_units(parse_units(self.budget)))
        for name, (least, most) in RANGES.items():
            if getattr(self, name) is not None:
                check_range(name, getattr(self, name), least, most)
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise ConfigError(
                    f"--{name} must be one of {', '.join(known)}, but is {value!r}; name one of "
                    "these."
                )
        self._check_scope()
        self._check_architecture()
        metered = [unit for unit in METERED if unit in self.units]
        if metered and not self.models.real:
            raise ConfigError(
                f"A budget in {' or '.join(metered)} needs a model that is paid for, but --budget "
                f"is {self.budget} and all roles are played by {OFFLINE}; give a number of "
                "rollouts, or minutes."
            )

    def _check_architecture(self) -> None:
        """Refuse moves where an engine makes all proposals, or needs what not all have."""
        strategy = STRATEGIES[self.strategy]
        fixed = strategy.engine != GATED or strategy.needs == "memory_types"
        if self.architecture == "any" and fixed:
            raise ConfigError(
                "--architecture any goes with strategies that can change every architecture, but "
                f"--strategy is {self.strategy}; leave it out, or name another, such as joint."
            )

    def _check_scope(self) -> None:
        """Refuse what does not go with the scope."""
        if self.scope == "global" and self.feedback != "complete":
            raise ConfigError(
                "--feedback says what is told in --scope user, but the scope is global and the "
                f"feedback {self.feedback}; give --scope user, or leave it out."
            )
        if self.scope == "user" and self.strategy != OWN_STRATEGY:
            raise ConfigError(
                f"--scope user is a protocol of the strategy {OWN_STRATEGY}, but --strategy is "
                f"{self.strategy}; leave --strategy out."
            )
        if self.scope == "user" and self.units.keys() != {"rollouts"}:
            raise ConfigError(
                f"--scope user takes a budget in rollouts, but --budget is {self.budget}; give a "
                "number, two for each user."
            )
        if self.scope == "user" and self.max_answer_tokens is not None:
            raise ConfigError(
                "--max-answer-tokens chooses among versions, and --scope user has none to choose "
                f"among, but it is {self.max_answer_tokens}; leave it out."
            )

    @property
    def env_path(self) -> str:
        """Where the environment file is."""
        return environment_path(self.env)

    @property
    def units(self) -> Amounts:
        """The budget by unit."""
        return parse_units(self.budget)

    @property
    def constraints(self) -> Constraints:
        """What candidates may take."""
        return Constraints(self.max_memory_tokens, self.max_answer_tokens)

    def as_dict(self) -> dict[str, Any]:
        """Options by their names on the command line, JSON-able; no probes or agent if None."""
        flat: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if value is not None or name not in {"probes", "agent"}:
                flat |= value if name == "models" else {name: value}
        return flat


def check_payable(options: Options, means: Means) -> None:
    """Check that somebody can watch over a budget in calls, tokens or dollars.

    Raises:
        ConfigError: Calls would be paid in several processes.
    """
    calling = {options.models.model, options.models.user_model} != {OFFLINE}
    metered = [unit for unit in METERED if unit in options.units]
    if metered and calling and means.backend not in {None, "threads"}:
        raise ConfigError(
            f"A budget in {' or '.join(metered)} is kept by the one process that makes all calls, "
            f"but --backend {means.backend} makes them in several; leave it out, or give a number "
            "of rollouts."
        )


def environment_path(env: str) -> str:
    """Where an environment file is: ``sample`` names the packaged one."""
    return str(files("evolve.gym").joinpath("data", "sample.json")) if env == SAMPLE else env


def merge_options(past: Mapping[str, Any] | None, given: Mapping[str, Any]) -> Options:
    """Options given now over those of the run that is resumed, if any.

    Raises:
        ConfigError: No budget is given, or a value lies outside its range.
    """
    merged = {**(past or {}), **given}
    if "budget" not in merged:
        raise ConfigError("A run needs a budget, but --budget is missing; try --budget 300.")
    if merged.get("scope") == "user":
        merged.setdefault("strategy", OWN_STRATEGY)
    if merged.get("agent") is not None:
        merged.setdefault("policy", merged["agent"])
    return Options(**{**known_fields(Options, merged), "models": make_models(merged)})
