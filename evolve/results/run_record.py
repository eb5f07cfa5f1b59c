"""One run folder as a record: what every report, notebook, export and command reads.

Reading changes nothing and locks nothing, so a run that goes on can be read, too; what is not yet
there is empty or None.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evolve.codec import from_data
from evolve.config import merge_options
from evolve.field import Field
from evolve.gains import Bounds
from evolve.gym.users import User
from evolve.journal import FILE, read_header
from evolve.learning import Learned
from evolve.offpolicy import Replayed
from evolve.results.candidates import CandidateRecord, generation_of, read_candidates
from evolve.results.journal_lines import Lines, Rollouts, events, read_lines
from evolve.results.lives import Lives, own_policies
from evolve.results.summary import read_summary
from evolve.results.surroundings import find_field, find_seed, find_users
from evolve.roles import Models
from feedback.diagnosis import diagnose
from feedback.records import Diagnosis, Rollout
from policies.errors import RunFolderError
from policies.files import read_whole
from policies.policy import Policy, seed_policy

__all__ = [
    "CandidateRecord",
    "Heard",
    "RunRecord",
    "diagnoses",
    "find_run",
    "learned_diagnoses",
    "read_run",
    "run_folders",
]

LATEST = "latest"
Part = Literal["train", "gate", "test"]


@dataclass(frozen=True, slots=True)
class Heard:
    """A candidate heard off-policy with one user.

    Attributes:
        policy: Id of the candidate.
        user: Id of the user.
        speaker: Id of the policy that the user had spoken to.
        heard: What came of it.
    """

    policy: str
    user: str
    speaker: str
    heard: Replayed


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run folder, read.

    Attributes:
        folder: The folder.
        name: The run's id: what its folder was called when it began.
        options: As its header has them, by the names of the command line.
        models: Who played which role.
        users: Of the environment; None where its file is gone or was changed since.
        field: Who is train, gate and test; None without users, in scope ``user``,
            and where no rollout has begun.
        seed: What it began with.
        candidates: With a verdict, in the order in which it was given.
        missing: Names of candidates that are left out, as no file holds their policy.
        versions: The seed, then what was accepted, in order and each once.
        best: The policy in force: what ``best.yaml`` holds, a rollback counted; of a run that has
            not ended, the version accepted last. In scope ``user`` the seed.
        policies: By id all that are known: seed, candidates, users' own, native and none.
        rollouts: By (policy id, user id), the fullest of each, parsed when asked for. In scope
            ``user`` those of the seed; what was learned is in ``lives``.
        own: In scope ``user``: user id to the policy that its life ended with.
        lives: In scope ``user``: user id to the life in which the policy was learned.
        bounds: (user id, period, question) to the upper bound, 0 to 1; of test users alone.
        summary: ``summary.json``; None before the end. It tells what the run found, also after a
            rollback.
        feedback: Generation to the feedback that it was made from, as Markdown.
        replays: In order.
        rollbacks: Ids of the policies that the run was rolled back to, in order.
        redacted: Whether what users said was removed; nothing can be traced then.
    """

    folder: Path
    name: str
    options: Mapping[str, Any]
    models: Models
    users: tuple[User, ...] | None
    field: Field | None
    seed: Policy
    candidates: tuple[CandidateRecord, ...]
    missing: tuple[str, ...]
    versions: tuple[Policy, ...]
    best: Policy
    policies: Mapping[str, Policy]
    rollouts: Mapping[tuple[str, str], Rollout]
    own: Mapping[str, Policy]
    lives: Mapping[str, Learned]
    bounds: Bounds
    summary: Mapping[str, Any] | None
    feedback: Mapping[int, str]
    replays: tuple[Heard, ...]
    rollbacks: tuple[str, ...]
    redacted: bool

    @property
    def events(self) -> Iterator[tuple[str, str, Any]]:
        """Kind, key and data of every event of the journal, from the first."""
        return events(self.folder)


def find_run(name: str, runs: Path = Path("runs")) -> Path:
    """The folder of a run.

    Args:
        name: A folder's path, a name inside ``runs``, or ``latest``: whose journal changed last.
        runs: Where runs are.

    Raises:
        RunFolderError: There is no such run.
    """
    for folder in (Path(name), runs / name):
        if os.path.isfile(folder / FILE):  # a name that is too long names none
            return folder
    if name == LATEST:
        folders = run_folders(runs)
        if folders:
            return folders[-1]
        raise RunFolderError(
            f"{LATEST} names the run in {runs} that changed last, but none is there; begin one by "
            "python -m evolve.loop, or name a run's folder."
        )
    raise RunFolderError(
        f"A run is named by its folder, by its name in {runs}, or as {LATEST}, but there is no "
        f"{FILE} in {name!r} nor in {str(runs / name)!r}; python -m evolve.runs list shows what "
        "there is."
    )


def run_folders(runs: Path) -> list[Path]:
    """Every run in a folder, the one whose journal changed last at the end; none is no error."""
    found = runs.glob(f"*/{FILE}") if os.path.isdir(runs) else ()
    journals = [path for path in found if path.is_file()]
    journals.sort(key=lambda path: (path.stat().st_mtime_ns, path))
    return [path.parent for path in journals]


def read_run(folder: Path) -> RunRecord:
    """Read a run folder, whether the run has ended or not.

    Raises:
        UserError: A file of it cannot be read, was damaged, or is of another schema.
    """
    header, lines = read_header(folder), read_lines(folder)
    options = merge_options(header["options"], {})
    redacted = bool(header.get("redacted"))
    seed = find_seed(folder, options, header)
    users = find_users(options, header, traceable=not redacted)
    own = own_policies(seed, lines, header)
    baselines = (seed_policy("native"), seed_policy("none"))
    found = read_candidates(folder, lines, (seed, *baselines, *own.values()))
    versions, summary = found.versions(seed), read_summary(folder)
    rollbacks = tuple(data["policy"] for _, data in lines.of("rollback"))
    best = versions[-1].id if summary is None else summary.get("best_policy", seed.id)
    return RunRecord(
        folder=folder,
        name=header["run"],
        options=header["options"],
        models=options.models,
        users=users,
        field=None if users is None else find_field(options, users, seed, lines),
        seed=seed,
        candidates=found.records,
        missing=found.missing,
        versions=versions,
        best=_best((best, *rollbacks)[-1], found.policies, folder),
        policies=found.policies,
        rollouts=Rollouts(lines),
        own=own,
        lives=Lives(lines),
        bounds=_bounds(lines),
        summary=summary,
        feedback=_feedback(folder),
        replays=tuple(_replays(lines)),
        rollbacks=rollbacks,
        redacted=redacted,
    )


def diagnoses(
    record: RunRecord, policy_id: str, part: Part | None = None, *, traced: bool = True
) -> list[Diagnosis]:
    """What is said of a policy's answers, traced where the environment knows what was revealed.

    Args:
        record: Of the run.
        policy_id: Of the policy. A user's own policy is diagnosed by the life it was learned in.
        part: Answers that count for it; None for all. Empty in scope ``user``, which has no parts.
        traced: Whether wrong answers are traced, which takes most of the time; stages need none.

    Raises:
        RunFolderError: The environment file is gone or was changed.
    """
    own = {user for user, policy in record.own.items() if policy.id == policy_id}
    if policy_id != record.seed.id and own:
        return learned_diagnoses(record, own) if part is None else []
    chosen = [
        record.rollouts[policy, user]
        for policy, user in record.rollouts
        if policy == policy_id and _counts(record, user, part)
    ]
    found = _diagnosed(record, chosen, traced=traced)
    return found if part is None or record.field is None else record.field.select(found, part)


def learned_diagnoses(record: RunRecord, users: Iterable[str] | None = None) -> list[Diagnosis]:
    """What is said of the answers in lives in which a policy was learned, in scope ``user``.

    Args:
        record: Of the run.
        users: Ids of those users; None for all.

    Raises:
        RunFolderError: The environment file is gone or was changed.
    """
    chosen = [user for user in record.lives if users is None or user in users]
    return _diagnosed(record, [record.lives[user].rollout for user in chosen], traced=True)


def _counts(record: RunRecord, user: str, part: Part | None) -> bool:
    """Whether a user has answers that count for a part."""
    if part is None:
        return True
    field = record.field
    if field is None:
        return False
    members = {"train": field.train, "gate": field.gate, "test": field.test}[part]
    return any(member.id == user for member in members)


def _diagnosed(record: RunRecord, rollouts: Iterable[Rollout], *, traced: bool) -> list[Diagnosis]:
    if record.users is None:
        raise RunFolderError(
            f"Answers are diagnosed by the environment file that they were given on, but "
            f"{record.options['env']} is gone or was changed since {record.folder} began; put the "
            "same file there."
        )
    lived = [rollout for rollout in rollouts if rollout.failure is None]
    whose = {rollout.user for rollout in lived}
    truths = {user.id: user.truth() for user in record.users if user.id in whose}
    if not traced:
        truths = {user: replace(truth, traceable=False) for user, truth in truths.items()}
    return [found for one in lived for found in diagnose(one, truths[one.user])]


def _best(policy_id: str, policies: Mapping[str, Policy], folder: Path) -> Policy:
    if policy_id in policies:
        return policies[policy_id]
    raise RunFolderError(
        f"A run's best policy is one of its versions, but no file of {folder} holds {policy_id}; "
        "resume the run, which writes them anew, or restore the folder from a copy."
    )


def _bounds(lines: Lines) -> Bounds:
    return {
        (user, period, question): bound
        for user, data in lines.of("bounds")
        for period, question, bound in data["bounds"]
    }


def _replays(lines: Lines) -> Iterator[Heard]:
    for key, data in lines.of("replay"):
        policy, rest = key.split(":", 1)
        user, speaker = rest.rsplit(":", 1)
        yield Heard(policy, user, speaker, from_data(Replayed, data))


def _feedback(folder: Path) -> dict[int, str]:
    return {
        generation_of(path.stem): _text(path)
        for path in sorted((folder / "feedback").glob("gen-*.md"))
    }


def _text(path: Path) -> str:
    try:
        return read_whole(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunFolderError(
            f"A run's files are read as UTF-8, but {path} cannot be ({error}); resume the run, "
            "which writes it anew."
        ) from error
