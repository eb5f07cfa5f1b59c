"""The files of a run folder that people read; all are derived from the journal."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evolve.optimize.archive import Archive, Version
from evolve.optimize.base import Verdict
from evolve.optimize.pareto import Point, front, points
from evolve.terminal import visible, warn
from feedback.digest import Feedback
from policies.errors import RunFolderError
from policies.files import write_whole
from policies.policy import Policy, policy_to_yaml

LOG = "run.log"
SEED = "seed.yaml"
BEST = "best.yaml"
SUMMARY = "summary.json"
PARETO = "pareto.yaml"
_MOST_BYTES = 220  # of a user's name in a file's; file systems take 255, a hash and ends included


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Writes into one run folder.

    Attributes:
        path: The folder.
        name: The run's id: what its folder was called when it began.
    """

    path: Path
    name: str

    def sweep(self) -> None:
        """Remove what a killed process had begun to write."""
        for path in self.path.rglob(".*.tmp"):
            path.unlink(missing_ok=True)

    def write_seed(self, policy: Policy) -> None:
        """What the run begins with, as its own file may change or go: ``seed.yaml``."""
        self._write(SEED, policy_to_yaml(policy))

    def write_candidate(self, name: str, policy: Policy, verdict: Verdict) -> None:
        """Every candidate that differs from its parent, with its verdict: ``candidates/``."""
        if policy.id == verdict.incumbent:
            return
        scores = {
            "accepted": verdict.accepted,
            "stage": verdict.stage,
            "reason": verdict.reason,
            "compared_with": verdict.incumbent,
            "minibatch_difference": verdict.minibatch_difference,
            "tokens_per_answer": verdict.tokens_per_answer,
        }
        file = f"candidates/{name}-{policy.short_id}.yaml"
        self._write(file, policy_to_yaml(replace(policy, scores=scores)))

    def write_version(self, version: Version) -> None:
        """An accepted version: ``policies/gen-003-5b1f0c2a.yaml``; no scores if none were asked."""
        policy = version.policy
        scores: dict[str, object] = {}
        if version.gate:
            scores = {
                "split": "gate",
                "clusters": len(version.gate),
                "accuracy": round(sum(version.gate.values()) / len(version.gate), 6),
            }
        self._write(version_file(policy), policy_to_yaml(replace(policy, scores=scores)))

    def write_own(self, user: str, policy: Policy) -> None:
        """The policy of one user, learned as that user lived: ``policies/ann-5b1f0c2a.yaml``."""
        place = _shortened(re.sub(r"[^\w-]", "_", user), user)
        self._write(f"policies/{place}-{policy.short_id}.yaml", policy_to_yaml(policy))

    def write_best(self, policy: Policy, scores: Mapping[str, object]) -> None:
        """The winner with its scores on test users: ``best.yaml``."""
        self._write(BEST, policy_to_yaml(replace(policy, scores=scores)))

    def write_rolled_back(
        self, rollback: Mapping[str, Any], versions: Iterable[Policy], found: Policy
    ) -> str | None:
        """The version that the run was rolled back to in place of its winner: ``best.yaml``.

        Args:
            rollback: As the journal has it.
            versions: Of the run, that one among them.
            found: The winner.

        Returns:
            What is said of it once the run has told what it found; None where it is the winner.
        """
        back = {version.id: version for version in versions}[rollback["policy"]]
        self.write_best(back, rollback["scores"])
        if back.id == found.id:
            return None
        return (
            f"the run was rolled back: {BEST} is {back.name} {back.short_id}, not the best version "
            "above"
        )

    def write_pareto(self, archive: Archive) -> None:
        """What the run offers at which price, the cheapest first: ``pareto.yaml``."""
        seed = archive.versions[0].policy
        self.write_front(
            {
                "schema": 1,
                "split": "gate",
                "limits": asdict(archive.constraints),
                "best": archive.best().policy.id,
                "front": [_point(point, seed) for point in front(points(archive))],
            }
        )

    def write_front(self, content: Mapping[str, Any]) -> None:
        """A front as its run measures it: ``pareto.yaml``."""
        import yaml

        self._write(PARETO, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))

    def write_feedback(self, generation: int, feedback: Feedback) -> None:
        """What the parent's rollouts said: ``feedback/gen-003.md``."""
        self._write(f"feedback/gen-{generation:03d}.md", feedback.markdown)

    @property
    def has_summary(self) -> bool:
        """Whether the run has ended before."""
        return (self.path / SUMMARY).is_file()

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """The end of the run in numbers: ``summary.json``."""
        self._write(SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")

    def _write(self, file: str, text: str) -> None:
        path = self.path / file
        try:
            write_whole(path, text)
        except OSError as error:
            raise RunFolderError(
                f"The run's files must be written, but {path} cannot be ({error.strerror}); free "
                "space or mend the folder, then resume the run."
            ) from error


def _shortened(name: str, user: str) -> str:
    """A name that a file can have; where it is too long for one, its end is a hash of the user."""
    if len(name.encode()) <= _MOST_BYTES:
        return name
    digest = hashlib.sha256(user.encode()).hexdigest()[:12]
    start = name.encode()[: _MOST_BYTES - len(digest) - 1].decode(errors="ignore")
    return f"{start}-{digest}"


def version_file(policy: Policy) -> str:
    """Where a run folder keeps an accepted version."""
    return f"policies/gen-{policy.lineage.generation:03d}-{policy.short_id}.yaml"


def _point(point: Point, seed: Policy) -> dict[str, object]:
    """A point as ``pareto.yaml`` has it."""
    policy = point.policy
    file = version_file(policy)
    if not point.accepted:
        place = policy.name.removeprefix(f"{policy.architecture}-")
        file = f"candidates/{place}-{policy.short_id}.yaml"
    return {
        "policy": policy.id,
        "name": policy.name,
        "file": None if policy.id == seed.id else file,  # the seed was not made by the run
        "accepted": point.accepted,
        "accuracy": round(point.accuracy, 6),
        "clusters": point.clusters,
        "tokens_per_answer": round(point.tokens, 3),
    }


class _Visible(logging.Formatter):
    """Shows what a terminal that prints the log would obey."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return visible(super().format(record))


class _Warnings(logging.Handler):
    """Shows warnings on stderr, which a live display puts above its bar."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Print it, to what stderr is now."""
        with suppress(OSError, ValueError):
            warn(record.getMessage())


@contextmanager
def logging_to(folder: Path) -> Iterator[None]:
    """What the package logs goes to the folder's ``run.log``, as long as that can be written.

    Warnings are shown, too.

    Raises:
        RunFolderError: It cannot be opened.
    """
    path = folder / LOG
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise RunFolderError(
            f"A run logs to its folder, but {path} cannot be written ({error.strerror}); mend the "
            "folder, then resume the run."
        ) from error
    handler.setFormatter(_Visible("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("evolve")
    before = logger.level, logging.raiseExceptions
    warnings = _Warnings()
    logger.addHandler(handler)
    logger.addHandler(warnings)
    logger.setLevel(logging.DEBUG)
    logging.raiseExceptions = False  # a full disk is reported by what cannot do without it
    try:
        yield
    finally:
        logger.removeHandler(warnings)
        logger.removeHandler(handler)
        with suppress(OSError):
            handler.close()
        logger.setLevel(before[0])
        logging.raiseExceptions = before[1]
