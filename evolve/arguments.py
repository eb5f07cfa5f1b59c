"""The options of commands as data: what builds a parser also says what a config file may hold."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

from evolve.optimize.strategy import STRATEGIES


@dataclass(frozen=True, slots=True)
class Argument:
    """One long option.

    Attributes:
        name: Without its dashes in front, such as ``user-model``.
        help: One line; its default stands in brackets at the end.
        kind: What its value is; a flag is a bool and takes none.
        metavar: What stands for its value in the help; None for its name in capitals.
        bare: Whether it may stand without a value, which then is empty, to be refused in words
            that help.
    """

    name: str
    help: str
    kind: type[str] | type[int] | type[float] | type[bool] = str
    metavar: str | None = None
    bare: bool = False

    @property
    def key(self) -> str:
        """Its name in Python."""
        return self.name.replace("-", "_")

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add it to a parser; one that is not given is left out of what that parses."""
        option = f"--{self.name}"
        if self.kind is bool:
            parser.add_argument(
                option, action="store_true", help=self.help, default=argparse.SUPPRESS
            )
            return
        parser.add_argument(
            option,
            type=self.kind,
            help=self.help,
            metavar=self.metavar,
            default=argparse.SUPPRESS,
            nargs="?" if self.bare else None,
            const="" if self.bare else None,
        )


MODEL_ARGUMENTS = (
    Argument("model", "plays every role: offline, or a LiteLLM name such as openai/NAME (offline)"),
    Argument("user-model", "plays the simulated user (the model)"),
    Argument("api-base", "where the model's provider is served (its own address)", metavar="URL"),
    Argument("timeout", "seconds that a call may take (120)", float, "S"),
    Argument("concurrency", "calls in flight at once (16)", int, "N"),
    Argument("price", "dollars per million tokens read and written", metavar="IN,OUT"),
    Argument("cache", "folder of replies that several runs share", metavar="DIR"),
)
"""Of every command that calls models."""

WORKER_ARGUMENTS = (
    Argument(
        "backend", "threads, loky, dask or ray (threads for models, else loky)", metavar="WHERE"
    ),
    Argument("scheduler", "of dask, such as tcp://HOST:8786", metavar="ADDRESS"),
    Argument("address", "of ray, such as HOST:6379, auto or local", metavar="ADDRESS"),
)
"""Of every command that runs rollouts."""

RUN_ARGUMENTS = (
    Argument(
        "budget",
        "at most, test scoring included: rollouts, 5000calls, 2Mtokens, '$5', 30min, or several",
        metavar="N",
        bare=True,
    ),
    Argument("env", "environment file (default: the packaged sample)", metavar="FILE"),
    Argument("probes", "what is true when, where --env holds chats (none)", metavar="FILE"),
    Argument(
        "policy", "seed policy: none, native, rag, awe, awi, mem0, a file (awe)", metavar="SEED"
    ),
    Argument("agent", "a memory system of your own, as package:Class", metavar="CLASS"),
    *MODEL_ARGUMENTS,
    Argument("rewrite-model", "rewrites texts (the model)"),
    Argument("strategy", f"{', '.join(STRATEGIES)} (joint)", metavar="NAME"),
    Argument("scope", "global, or user: a policy per user, learned as it lives (global)"),
    Argument("feedback", "in scope user: none, questions or complete (complete)", metavar="LEVEL"),
    Argument("holdout", "users, periods or auto (auto)", metavar="WHAT"),
    Argument("seed", "of every random choice (0)", int),
    Argument("first-rounds", "rounds of a session, first period (1)", int, "R"),
    Argument("later-rounds", "rounds of a session, later periods (2)", int, "R"),
    Argument("architecture", "of candidates: same, the seed's, or any (same)", metavar="WHICH"),
    Argument("max-memory-tokens", "that the memory of a policy may hold (no limit)", int, "N"),
    Argument("max-answer-tokens", "that a policy may take per answer (no limit)", int, "N"),
    Argument(
        "resume", "go on with a run: its folder, its name in --runs, or latest", metavar="RUN"
    ),
    Argument("runs", "folder of run folders (runs)", metavar="DIR"),
    Argument("name", "name of the new run's folder (by time and strategy)"),
    Argument("jobs", "processes of the offline model (all cores)", int, "N"),
    *WORKER_ARGUMENTS,
    Argument("storage", "database that mirrors the search, such as sqlite:///FILE", metavar="URL"),
    Argument("mlflow", "MLflow store, told of the run at its end: a folder or URI", metavar="URI"),
    Argument("dry-run", "say what the run would call and pay, and end", bool),
    Argument("yes", "do not ask before a run that may pay over $1, or is unpriced", bool),
)
"""Of ``evolve.loop``."""


def add_all(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    """Add arguments to a parser in their order."""
    for argument in arguments:
        argument.add_to(parser)
