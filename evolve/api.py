"""The loop from Python, as in a notebook: ``evolve.run(...)`` does what the command does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolve.config import Options
    from evolve.means import Means
    from policies.policy import Policy

# Named in the call itself, or of no use to it.
_OWN = frozenset({"budget", "policy", "agent", "resume", "runs", "name", "dry_run", "yes"})
_NAMED = frozenset({"budget", "policy", "agent", "folder", "quiet"})


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has ended.

    Attributes:
        folder: Where everything of it is.
        summary: The end in numbers: ``summary.json``.
        best: The best version; None in scope ``user``, where every user has one.
    """

    folder: Path
    summary: Mapping[str, Any]
    best: Policy | None


def run(
    budget: int | str | None = None,
    *,
    policy: Policy | str | Path | None = None,
    agent: type[Any] | str | None = None,
    folder: str | Path | None = None,
    quiet: bool = False,
    **options: Any,
) -> Run:
    """Evolve a memory policy, or go on with a run that was stopped.

    Nothing is asked before real models are paid: see the estimate of the command's ``--dry-run``
    first. Ctrl-C, or a notebook's stop, ends it at once; what was lived is in the journal.

    Args:
        budget: Rollouts, or what ``--budget`` takes, such as ``"300,$5"``. May be left out where a
            run is gone on with.
        policy: To begin with: a policy, the name of a seed, or a file; as ``--policy`` by default.
        agent: A memory system of one's own: its class, or its name as ``--agent`` takes it. A class
            that cannot be imported by its name, as one of a notebook, is lived in this process.
        folder: Of the run, one that is not there yet, or that of the run to go on with; by default
            a new one in ``runs``.
        quiet: Whether nothing is printed.
        **options: Any other option of ``python -m evolve.loop`` that says what the run finds or
            what it works with, dashes as underscores, such as ``env="mine.json"``, ``jobs=2``.

    Returns:
        The run.

    Raises:
        UserError: An option, a file, the budget or the folder is not usable; the message says what
            to do.
    """
    from evolve.cli import limit_threads
    from evolve.config import merge_options
    from evolve.journal import read_header
    from evolve.means import make_means

    limit_threads()
    given = _known(options)
    here = _name_agent(given, agent)
    place = _place(folder, given.get("strategy", "joint"))
    past = read_header(place)["options"] if os.path.isfile(place / "journal.jsonl") else None
    given |= {} if budget is None else {"budget": budget}
    given |= {} if policy is None else {"policy": _policy_path(policy, place)}
    given |= {"jobs": 1} if here else {}
    settled, means = merge_options(past, given), make_means(given)
    with redirect_stdout(StringIO()) if quiet else nullcontext():
        _go(settled, means, place, resume=past is not None)
    return read(place)


def read(folder: str | Path) -> Run:
    """A run that has ended, by its folder.

    Raises:
        UserError: It has not ended, is none, or is damaged.
    """
    from evolve.results.summary import read_summary
    from policies.errors import RunFolderError
    from policies.policy import read_policy

    place = _path("folder", folder)
    summary = read_summary(place)
    if summary is None:
        raise RunFolderError(
            f"A run that has ended has a summary.json, but {place} has none; go on with the run "
            "first."
        )
    best = place / "best.yaml"
    return Run(place, summary, read_policy(best) if best.is_file() else None)


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the command line would give them."""
    from evolve.arguments import RUN_ARGUMENTS
    from evolve.config_file import checked_options
    from policies.errors import ConfigError

    known = {one.key for one in RUN_ARGUMENTS if one.key not in _OWN} | _NAMED
    for name in options:
        if name.replace("-", "_") not in known:
            raise ConfigError(_unknown(name, sorted(known)))
    plain: dict[object, object] = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in options.items()
        if value is not None
    }
    arguments = [one for one in RUN_ARGUMENTS if one.key not in _OWN]
    return checked_options(plain, "evolve.run", arguments)


def _unknown(name: str, known: list[str]) -> str:
    """What is said of an option that there is none of."""
    from difflib import get_close_matches

    from policies.shown import short

    near = get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]}? " if near else ""
    return (
        f"Options of evolve.run have names in Python, but {short(name)} is none; {advice}there are "
        f"{', '.join(known)}."
    )


def _name_agent(given: dict[str, Any], agent: type[Any] | str | None) -> bool:
    """Put the name of an agent among options; whether it can only live in this process."""
    if agent is None or isinstance(agent, str):
        given |= {} if agent is None else {"agent": agent}
        return False
    if not isinstance(agent, type):
        from policies.errors import AgentError
        from policies.shown import short

        raise AgentError(
            "agent of evolve.run is a class, or its name as package:Class, but is "
            f"{short(agent)}; hand over the class itself."
        )
    from evolve.agents.own import declare_class

    given["agent"] = declare_class(agent)
    return agent.__module__ == "__main__" or "<locals>" in agent.__qualname__


def _place(folder: str | Path | None, strategy: str) -> Path:
    """The folder of a run."""
    stamp = f"{datetime.now():%Y%m%d-%H%M%S-%f}"
    return Path("runs", f"{stamp}-{strategy}") if folder is None else _path("folder", folder)


def _path(what: str, given: object) -> Path:
    """A path that was handed over.

    Raises:
        ConfigError: It is none.
    """
    from policies.errors import ConfigError
    from policies.shown import short

    if not isinstance(given, str | Path) or "\0" in str(given):
        raise ConfigError(
            f"{what} of evolve.run is a path as text or a Path, without null characters, but is "
            f"{short(given)}; name another."
        )
    return Path(given)


def _policy_path(policy: Policy | str | Path, place: Path) -> str:
    """What an option says of a policy; one that is in no file is written beside the run."""
    from policies.errors import ConfigError
    from policies.policy import Policy, write_policy

    if not isinstance(policy, Policy):
        _path("policy", policy)
        return str(policy)
    if not place.name:
        raise ConfigError(
            "A policy that is in no file is written beside the folder of the run, but folder is "
            f"{str(place)!r}; name one that is not there yet, such as 'runs/mine'."
        )
    path = place.with_name(f"{place.name}-begin.yaml")
    write_policy(policy, path)
    return str(path)


def _go(options: Options, means: Means, place: Path, *, resume: bool) -> None:
    """Run a run to its end."""
    from evolve.display import PlainDisplay
    from evolve.environment import without_answers
    from evolve.locomo.tuned_run import tuned_run
    from evolve.policy_run import Watch, policy_run
    from evolve.prepare import prepare
    from evolve.user_run import user_run

    with PlainDisplay() as display:
        watch = Watch(display, lambda: False)
        if without_answers(options):
            tuned_run(options, place, watch, resume=resume)
        elif options.scope == "user":
            user_run(prepare(options, means), place, means, watch, resume=resume)
        else:
            policy_run(options, place, means, watch, resume=resume)
