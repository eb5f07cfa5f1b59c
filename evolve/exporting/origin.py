"""Which model a policy was tuned to, as far as the folders of runs tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evolve.folder import SEED
from evolve.journal import read_header
from evolve.locomo.tuning import OPERATOR as EVIDENCE
from evolve.roles import OFFLINE
from policies.errors import PolicyFileError, RunFolderError
from policies.policy import Policy, read_policy

TUNED_TO = "tuned_to"
"""Key of a policy's scores under which an exported file says it, wherever the file goes."""

UNTUNED = "tuned to no model, as no run has changed it"
_BY_EVIDENCE = "tuned to no model: settings were searched by the evidence that they find"
_STAND_IN = "the offline stand-in, which is not an LLM"


@dataclass(frozen=True, slots=True)
class Origin:
    """What a policy was tuned to.

    Attributes:
        sentence: Of what, by which run; without a full stop.
        real: Whether everything that shaped it was played by real models.
    """

    sentence: str
    real: bool


def find_origin(policy: Policy, near: Path | None) -> Origin:
    """What a policy was tuned to: what its file says, else what its run did.

    Args:
        policy: The policy.
        near: Its file or the folder of a run; runs are looked for in the folders around it.
    """
    return _origin(policy, near, frozenset())


def _origin(policy: Policy, near: Path | None, behind: frozenset[str]) -> Origin:
    """The same, for a policy that the runs ``behind`` began with."""
    said, run = policy.scores.get(TUNED_TO), policy.lineage.run
    if isinstance(said, str):
        return Origin(said, "stand-in" not in said)
    if run is None or policy.lineage.operator == EVIDENCE:
        return Origin(UNTUNED if run is None else f"{_BY_EVIDENCE} (run {run})", real=False)
    found = _find(run, near)
    if found is None:
        return Origin(
            f"tuned by run {run}, whose folder is not here: perhaps to {_STAND_IN}", False
        )
    folder, options = found
    played = _played(run, options)
    seed = _seed_of(folder)
    if not played.real or seed is None or run in behind:
        return played
    before = _origin(seed, folder, behind | {run})
    if before.real or before.sentence == UNTUNED:
        return played
    return Origin(f"{played.sentence}; before that {before.sentence}", real=False)


def options_of(policy: Policy, near: Path) -> Mapping[str, object]:
    """The options of the run that a policy is of, as its header has them; none without its folder.

    Args:
        policy: The policy.
        near: Its file; the run is looked for in the folders around it.
    """
    run = policy.lineage.run
    found = None if run is None else _find(run, near)
    return found[1] if found else {}


def _played(run: str, options: Mapping[str, object]) -> Origin:
    """What a run tuned to, by who played its roles."""
    model, user_model = (str(options.get(role) or OFFLINE) for role in ("model", "user_model"))
    if model == OFFLINE:
        return Origin(f"tuned to {_STAND_IN} (run {run})", real=False)
    sentence = f"tuned to {model} (run {run})"
    if user_model == OFFLINE:
        return Origin(f"{sentence}, with users played by {_STAND_IN}", real=False)
    return Origin(sentence, real=True)


def _find(run: str, near: Path | None) -> tuple[Path, Mapping[str, object]] | None:
    """The folder and the options of a run by its name, where its folder is around a place."""
    for folder in _folders(run, near):
        try:
            header = read_header(folder)
        except RunFolderError:
            continue
        if header.get("run") == run and isinstance(header.get("options"), dict):
            return folder, header["options"]
    return None


def _folders(run: str, near: Path | None) -> Iterator[Path]:
    """Where a run may be: around the place itself, beside it, and in ``runs``."""
    if near is not None:
        around = near.absolute()
        for folder in (around, *list(around.parents)[:2]):
            yield folder
            yield folder.parent / run
    yield Path("runs") / run


def _seed_of(folder: Path) -> Policy | None:
    """What a run began with, where its folder has a copy."""
    try:
        return read_policy(folder / SEED)
    except PolicyFileError:
        return None
