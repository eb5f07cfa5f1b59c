"""How policies fail by period, by state type and by generation, as frames with intervals.

Every frame is long: a row per policy, place and measure, with the measure's 95 % interval over
clusters. A cluster is what was drawn independently: a user, or under a split by time a user's
question. Policies are compared on answers that all of them gave, so their rows never differ merely
by the users that each happened to be scored on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal

from evolve.gains import Bounds, ClusterOf
from evolve.results.run_record import RunRecord, diagnoses, learned_diagnoses
from evolve.seeding import derive
from evolve.stats import cluster_interval
from feedback.records import Diagnosis, Stage, UserTruth
from policies.policy import Policy, seed_policy

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

FAILURES = ("write", "read", "utilization", "format")
"""The stages that can fail, in the order in which they happen."""
MEASURES = ("memory", "accuracy", *FAILURES)
"""The memory score, and shares of answers in 0..1."""
ESTIMATE = ("mean", "low", "high", "clusters", "answers")
"""Columns of a measure; ``low`` and ``high`` are NaN where the data cannot bound it."""
Part = Literal["test", "gate", "train", "everyone"]
_BESIDE = ("native", "none")
_FEWEST_SHARED = 2  # clusters: one has no interval

Answers = Mapping[str, tuple[Diagnosis, ...]]


@dataclass(frozen=True, slots=True)
class Cohort:
    """Answers of some policies to the same questions of the same users.

    Attributes:
        part: Whose answers: ``test`` users where the run scored them, else ``gate`` or ``train``
            users, on which the best version looks better than it is; ``everyone`` in scope
            ``user``, which has no parts.
        answers: What a policy is called, such as ``seed`` or ``best``, to its diagnoses. In scope
            ``user`` those of all users' own policies are called ``learned``.
        bounds: Upper bounds of answers, as far as the run asked for them.
        cluster_of: What was drawn independently with an answer.
        seed: Of the run, for the draws of intervals.
    """

    part: Part
    answers: Answers
    bounds: Bounds
    cluster_of: ClusterOf
    seed: int

    @property
    def users(self) -> int:
        """Number of users."""
        return len({d.user for found in self.answers.values() for d in found})

    def __str__(self) -> str:
        """What is compared, in words."""
        each = len(next(iter(self.answers.values())))
        whose = "" if self.part == "everyone" else f"{self.part} "
        return f"{', '.join(self.answers)}: {each} answers of {self.users} {whose}users each"


def named_policies(record: RunRecord) -> dict[str, str]:
    """What figures call a policy to its id: seed, best where it is another, native and none."""
    named: dict[str, str] = {"seed": record.seed.id}
    others = {"best": record.best, **{name: seed_policy(name) for name in _BESIDE}}
    for name, policy in others.items():
        if policy.id not in named.values():
            named[name] = policy.id
    return named


def cohort_of(
    record: RunRecord,
    policies: Mapping[str, str] | None = None,
    parts: Sequence[Literal["test", "gate", "train"]] = ("test", "gate", "train"),
    *,
    traced: bool = True,
) -> Cohort | None:
    """The answers on which policies of a run can be compared.

    Args:
        record: The run.
        policies: What a policy is called to its id; by default those of ``named_policies``, of
            which native and none may be missing.
        parts: Where to look, in this order.
        traced: Whether wrong answers are traced.

    Returns:
        Those of the first part in which all policies share some; None where there is no such part,
        as in a run that has just begun, or one whose environment file is gone.
    """
    if record.users is None:
        return None
    if record.lives:
        seed, learned = diagnoses(record, record.seed.id), learned_diagnoses(record)
        both = shared_answers({"seed": tuple(seed), "learned": tuple(learned)})
        return _cohort(record, "everyone", both) if any(both.values()) else None
    wanted = named_policies(record) if policies is None else policies
    beside = _BESIDE if policies is None else ()
    for part in parts:
        found = {
            name: tuple(diagnoses(record, policy, part, traced=traced))
            for name, policy in wanted.items()
        }
        found = {name: given for name, given in found.items() if given or name not in beside}
        shared = shared_answers(found)
        if any(shared.values()):
            return _cohort(record, part, shared)
    return None


def shared_answers(answers: Answers) -> Answers:
    """The answers that every policy gave: to the same question of the same user and period."""
    keys = [{_place(d) for d in given} for given in answers.values()]
    common = set[tuple[str, int, int]].intersection(*keys) if keys else set()
    return {name: tuple(d for d in given if _place(d) in common) for name, given in answers.items()}


def by_period(cohort: Cohort | None) -> pd.DataFrame:
    """Measures of each policy in each period; no rows without answers.

    Returns:
        Columns ``policy``, ``period``, ``measure`` (of ``MEASURES``; ``memory`` only where bounds
        are known, the stages only where probes were asked) and those of ``ESTIMATE``.
    """
    places = ("policy", "period")
    if cohort is None:
        return _frame([], places)
    rows = []
    for policy, given in cohort.answers.items():
        for period in sorted({d.period for d in given}):
            chosen = [d for d in given if d.period == period]
            rows += [(policy, period, *row) for row in _measured(chosen, cohort)]
    return _frame(rows, places)


def by_state(cohort: Cohort | None, truths: Mapping[str, UserTruth]) -> pd.DataFrame:
    """How each state type fares in each policy, over the answers that require it; else no rows.

    Args:
        cohort: The answers.
        truths: User id to truth, of every user among them.

    Returns:
        Columns ``policy``, ``state``, ``measure`` (``accuracy`` and ``FAILURES``) and those of
        ``ESTIMATE``. A failure counts where its stage blames this state. States that fail most
        often in the first policy stand first.
    """
    places = ("policy", "state")
    if cohort is None:
        return _frame([], places)
    rows = []
    for policy, given in cohort.answers.items():
        needing: dict[str, list[Diagnosis]] = {}
        for d in given:
            for state in set(truths[d.user].required[d.question]):
                needing.setdefault(state, []).append(d)
        for state in sorted(needing):
            found = _measured(needing[state], cohort, blamed=state)
            rows += [(policy, state, *row) for row in found if row[0] != "memory"]
    return _worst_first(_frame(rows, places), next(iter(cohort.answers)))


def by_generation(record: RunRecord) -> pd.DataFrame:
    """Measures of the seed and of each accepted version, in order of acceptance.

    Versions are compared on the gate users that all were judged on, else on shared train users.
    Where fewer than two clusters are shared, as under strategies without a gate, each version
    stands for the users that it was scored on, and ``shared`` is False.

    Returns:
        Columns ``version`` (``seed``, else the candidate's name), ``generation``, ``policy`` (its
        id), ``part``, ``shared``, ``measure`` and those of ``ESTIMATE``.
    """
    columns = ("version", "generation", "policy", "part", "shared")
    if record.field is None:
        return _frame([], columns)
    versions = dict(zip(version_names(record).values(), record.versions, strict=True))
    ids = {name: policy.id for name, policy in versions.items()}
    cohort = cohort_of(record, ids, ("gate", "train"), traced=False)
    shared = cohort is not None and len(_clusters(cohort)) >= _FEWEST_SHARED
    if cohort is None or not shared:
        cohort = _own_answers(record, ids)
    rows = [
        (name, _generation(name, versions[name]), ids[name], cohort.part, shared, *row)
        for name, given in cohort.answers.items()
        for row in _measured(given, cohort)
    ]
    return _frame(rows, columns)


def _generation(name: str, version: Policy) -> int:
    # A seed may be a version of an earlier run.
    return 0 if name == "seed" else version.lineage.generation


def version_names(record: RunRecord) -> dict[str, str]:
    """Id of every version, in order, to its name: ``seed``, or such as ``gen-003.1``."""
    names = {record.seed.id: "seed"}
    for candidate in record.candidates:
        if candidate.verdict.accepted:
            names.setdefault(candidate.policy.id, candidate.name)
    return names


def _own_answers(record: RunRecord, ids: Mapping[str, str]) -> Cohort:
    """Of each version what is known of it: on gate users, else on train users."""

    def own(part: Literal["gate", "train"]) -> Answers:
        found = {n: tuple(diagnoses(record, i, part, traced=False)) for n, i in ids.items()}
        return {name: given for name, given in found.items() if given}

    on_gate = own("gate")
    if on_gate:
        return _cohort(record, "gate", on_gate)
    return _cohort(record, "train", own("train"))


def _cohort(record: RunRecord, part: Part, answers: Answers) -> Cohort:
    def own_user(diagnosis: Diagnosis) -> str:
        return diagnosis.user

    cluster_of = own_user if record.field is None else record.field.cluster_of
    return Cohort(part, answers, record.bounds, cluster_of, int(record.options["seed"]))


def _place(diagnosis: Diagnosis) -> tuple[str, int, int]:
    return diagnosis.user, diagnosis.period, diagnosis.question


def _clusters(cohort: Cohort) -> set[str]:
    return {cohort.cluster_of(d) for given in cohort.answers.values() for d in given}


def _measured(
    given: Sequence[Diagnosis], cohort: Cohort, blamed: str | None = None
) -> Iterator[tuple[str, float, float, float, int, int]]:
    """A measure with its interval, for each that is defined for these answers.

    Args:
        given: At least one answer.
        cohort: What they are of.
        blamed: Counts failures of which this state is to blame alone; by default all.
    """
    import numpy as np

    sums = _sums(given, cohort, blamed)

    def rate(column: int) -> Any:
        return lambda s: s[..., column] / s[..., 0]

    def memory(s: NDArray[np.float64]) -> NDArray[np.float64]:
        room = s[..., _UPPER] - s[..., _GUESS]
        scored: NDArray[np.float64] = (s[..., 1] - s[..., _GUESS]) / np.where(room > 0, room, nan)
        return scored

    statistics = {"memory": memory} | {name: rate(at) for at, name in enumerate(MEASURES[1:], 1)}
    probed = all(d.probed for d in given)
    for name, statistic in statistics.items():
        if name in ("write", "read", "utilization") and not probed:
            continue
        try:
            found = cluster_interval(sums, statistic, derive(cohort.seed, "curves", name))
        except ValueError:  # undefined, such as a memory score without bounds
            continue
        ends = (found.low, found.high) if isfinite(found.low) else (nan, nan)
        yield name, found.mean, *ends, found.n, len(given)


_GUESS, _UPPER = 1 + len(MEASURES[1:]), 2 + len(MEASURES[1:])


def _sums(given: Iterable[Diagnosis], cohort: Cohort, blamed: str | None) -> list[list[float]]:
    """Per cluster: answers, right ones, those of each failure, right by guess and at the bound."""
    sums: dict[str, list[float]] = {}
    stages = (Stage.RIGHT, *(Stage(name) for name in FAILURES))
    for d in given:
        row = sums.setdefault(cohort.cluster_of(d), [0.0] * (_UPPER + 1))
        row[0] += 1
        if d.stage is Stage.RIGHT or blamed is None or blamed in d.failed_states:
            row[1 + stages.index(d.stage)] += 1
        row[_GUESS] += d.guessed
        row[_UPPER] += cohort.bounds.get(_place(d), nan)
    return [sums[cluster] for cluster in sorted(sums)]


def _worst_first(frame: pd.DataFrame, policy: str) -> pd.DataFrame:
    """Rows sorted by how often their state fails in a policy; otherwise in order."""
    first = frame[(frame["policy"] == policy) & frame["measure"].isin(FAILURES)]
    failing = first.groupby("state")["mean"].sum()
    key = frame["state"].map(failing).fillna(0.0)
    return (
        frame.assign(failing=-key)
        .sort_values(["failing", "state"], kind="stable")
        .drop(columns="failing")
        .reset_index(drop=True)
    )


def _frame(rows: Sequence[tuple[Any, ...]], places: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=[*places, "measure", *ESTIMATE])
    return frame.astype({"mean": float, "low": float, "high": float})
