"""What ``summary.json`` and ``pareto.yaml`` hold, and reading them: whole, or refused.

Whatever reads runs relies on the layout stated here. What else a summary has is carried along.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from evolve.codec import from_data
from evolve.folder import PARETO, SUMMARY
from evolve.journal import FILE
from evolve.results.evidence_search import is_evidence_search
from policies.errors import RunFolderError
from policies.files import read_whole
from policies.shown import short

_MOST = 10**15  # of any number: what is larger no run comes to, and no table has room for
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-_MOST, le=_MOST)]
Count = Annotated[int, Field(strict=True, ge=0, le=_MOST)]
Flag = Annotated[bool, Field(strict=True)]


@dataclass(frozen=True, slots=True)
class Gain:
    """A gain in memory score with its 95 % interval; ends that are infinite are None."""

    memory: Number
    low: Number | None
    high: Number | None
    clusters: Count


@dataclass(frozen=True, slots=True)
class Mean:
    """Any other estimate, likewise."""

    mean: Number
    low: Number | None
    high: Number | None
    clusters: Count


@dataclass(frozen=True, slots=True)
class Lead:
    """How far the best policy is ahead of a baseline, in memory score and in accuracy."""

    memory: Mean | None
    accuracy: Mean


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of ``n`` answers, 0 to 1; None where they were not looked at, or are undefined."""

    n: Count
    accuracy: Number
    write: Number | None
    read: Number | None
    utilization: Number | None
    format: Number | None
    memory: Number | None


@dataclass(frozen=True, slots=True)
class Who:
    """Whose rates they are on test users: what a policy has there besides ``Rates``."""

    policy: str
    tokens_per_answer: Number | None


@dataclass(frozen=True, slots=True)
class Used:
    """What a role used."""

    calls: Count
    prompt_tokens: Count
    completion_tokens: Count


@dataclass(frozen=True, slots=True)
class Price:
    """What it cost besides; None in dollars where that is unknown."""

    dollars: Number | None
    cached: Count = 0


@dataclass(frozen=True, slots=True)
class Sides:
    """A period in scope ``user``, without learning and with it."""

    fixed: Rates
    learned: Rates


@dataclass(frozen=True, slots=True)
class Found:
    """What a store finds of the evidence, on average over questions."""

    questions: Count
    recall: Number
    precision: Number
    tokens: Number


@dataclass(frozen=True, slots=True)
class End:
    """What every run ends with."""

    seed_policy: str
    budget: Number
    spent: Number
    gain: Gain | None
    usage: dict[str, Used]
    bound_usage: dict[str, Used]
    paid: dict[str, Used] = field(default_factory=dict)
    ended: str = ""
    rollouts: Number | None = None
    gate_gain: Number | None = None
    shrinkage: Number | None = None


@dataclass(frozen=True, slots=True)
class PolicyEnd:
    """What it ends with besides where one policy evolves; ``test`` and leads are by policy."""

    best_policy: str
    versions: Annotated[list[str], Field(min_length=1)]
    test: dict[str, Rates]
    over_baselines: dict[str, Lead] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EvidenceEnd:
    """What a search by the evidence alone has besides both; ``evidence`` is by policy."""

    evidence: dict[str, Found]
    recall_gain: Mean
    limit: Count
    trials: Count
    precision_gain: Mean | None = None


@dataclass(frozen=True, slots=True)
class UserEnd:
    """What it ends with besides in scope ``user``; ``all`` is among the periods."""

    users: Count
    periods: dict[str, Sides]


@dataclass(frozen=True, slots=True)
class Point:
    """A policy of the front of accuracy and tokens per answer."""

    name: str
    policy: str
    accepted: Flag
    accuracy: Number
    clusters: Count
    tokens_per_answer: Number


@dataclass(frozen=True, slots=True)
class PolicyFront:
    """That front, the cheapest first, and the id of the best policy."""

    best: str
    front: list[Point]


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be shown, in tokens."""

    tokens_shown: Count


@dataclass(frozen=True, slots=True)
class FoundBy:
    """Settings of the front of evidence recall and precision, and the policy that has them."""

    policy: str
    settings: dict[str, Count | Flag | str | None]
    recall: Number
    precision: Number
    tokens_shown: Number


@dataclass(frozen=True, slots=True)
class EvidenceFront:
    """That front, the most precise first, and the id of the best policy."""

    best: str
    limits: Limit
    front: Annotated[list[FoundBy], Field(min_length=1)]


def read_summary(folder: Path) -> dict[str, Any] | None:
    """What ``summary.json`` of a run folder says; None before the end.

    Raises:
        RunFolderError: It cannot be read, or is not what a run writes.
    """
    path = folder / SUMMARY
    if not os.path.isfile(path):
        return None
    try:
        summary: dict[str, Any] = json.loads(read_whole(path).decode("utf-8"))
        json.dumps(summary, ensure_ascii=False, allow_nan=False).encode()
        check_summary(summary, searched=_searched(folder))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged("The end of a run", path, error) from error
    return summary


def check_summary(summary: Any, *, searched: bool = False) -> None:
    """Check that a summary has what is read of it, each of its kind.

    Args:
        summary: As parsed.
        searched: Whether it must be that of a search by the evidence.

    Raises:
        ValueError: It has not.
    """
    if not isinstance(summary, dict):
        raise ValueError("it is no object")
    from_data(End, summary)
    from_data(dict[str, Price], summary.get("paid", {}))
    if summary.get("scope") == "user" and not searched:
        _need("periods", from_data(UserEnd, summary).periods, "all")
        return
    from_data(PolicyEnd, summary)
    from_data(dict[str, Who], summary["test"])
    if searched or "evidence" in summary:
        _need("evidence", from_data(EvidenceEnd, summary).evidence, "seed", "best")


def read_front(folder: Path) -> PolicyFront | EvidenceFront | None:
    """What ``pareto.yaml`` of a run folder says; None where there is none.

    Raises:
        RunFolderError: It cannot be read, or is not what a run writes.
    """
    import yaml

    path = folder / PARETO
    if not os.path.isfile(path):
        return None
    try:
        return _front(yaml.safe_load(read_whole(path).decode("utf-8")))
    # PyYAML lets the others escape for odd dates, tags and numbers.
    except (OSError, yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise _damaged("The front of a run", path, error) from error
    except RecursionError as error:
        raise _damaged("The front of a run", path, error) from error


def _front(content: Any) -> PolicyFront | EvidenceFront:
    if "tokens_shown" not in content["limits"]:
        return from_data(PolicyFront, content)
    found = from_data(EvidenceFront, content)
    if len({tuple(point.settings) for point in found.front}) > 1:
        raise ValueError("its settings differ in their names")
    return found


def _searched(folder: Path) -> bool:
    return os.path.isfile(folder / FILE) and is_evidence_search(folder)


def _need(what: str, found: Mapping[str, object], *names: str) -> None:
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"{what} lacks {', '.join(missing)}")


def _damaged(what: str, path: Path, error: Exception) -> RunFolderError:
    return RunFolderError(
        f"{what} stands in its {path.name}, but {path} is not what a run writes ({_why(error)}); "
        "resume the run, which writes it anew."
    )


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return str(error.strerror)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(step) for step in first["loc"])
        return f"at {short(place)}: {first['msg']}"
    return type(error).__name__ if isinstance(error, UnicodeError) else f"{error}"[:100]
