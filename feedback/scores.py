"""Scores of diagnosed answers: accuracy, stages, bounds and memory score; tables of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from feedback.records import Diagnosis, Rollout, Stage, TraceStage, UserTruth

if TYPE_CHECKING:
    import pandas as pd

Bounds = Mapping[tuple[str, int, int], float]
"""(user, period, question) to 1.0 where the model, told the true states, is right, else 0.0."""

_Key = TypeVar("_Key", int, str)

TOKEN_ROLES = frozenset({"reply", "write", "answer"})


@dataclass(frozen=True, slots=True)
class Scores:
    """What a set of answers scored; rates are shares of all of them, in 0..1.

    ``accuracy + write + read + utilization + format`` is 1 where the stages are defined.

    Attributes:
        n: Number of answers.
        accuracy: Right answers.
        write: Wrong answers by a write failure; None unless every answer was probed.
        read: By a read failure; None likewise.
        utilization: By a utilization failure; None likewise.
        format: Answers whose choice could not be read.
        lucky: Right answers with a wrong probe, part of ``accuracy``; None likewise.
        random: Accuracy of guessing: mean of 1 / number of choices, 0 of answers in own words.
        upper: Accuracy of the same model when told the true states; None without bounds.
        memory: (accuracy - random) / (upper - random), not clipped; None where it is undefined:
            without bounds, or where ``upper`` does not exceed ``random``.
        probe_format_errors: Required states whose probe could not be read.
        unknown_probes: Required states probed ``unknown``.
        traced: Wrong answers that have a trace.
        trace: Trace stage to the share of answers whose earliest lost step it is; every stage, in
            order; empty where nothing was traced.
    """

    n: int
    accuracy: float
    write: float | None
    read: float | None
    utilization: float | None
    format: float
    lucky: float | None
    random: float
    upper: float | None
    memory: float | None
    probe_format_errors: int
    unknown_probes: int
    traced: int
    trace: Mapping[TraceStage, float]


def score(diagnoses: Sequence[Diagnosis], bounds: Bounds | None = None) -> Scores:
    """Score answers, pooled whatever their rollouts, users and periods.

    Args:
        diagnoses: At least one.
        bounds: Of every answer among them; None where none are known.

    Raises:
        ValueError: No answers, or an answer without its bound.
    """
    n = len(diagnoses)
    if n == 0:
        raise ValueError("there are no answers to score")
    stages = Counter(d.stage for d in diagnoses)
    probed = all(d.probed for d in diagnoses)
    accuracy = stages[Stage.RIGHT] / n
    random = sum(d.guessed for d in diagnoses) / n
    upper = None if bounds is None else sum(_bound(d, bounds) for d in diagnoses) / n
    earliest = Counter(d.earliest for d in diagnoses if d.trace)
    traced = sum(earliest.values())
    return Scores(
        n=n,
        accuracy=accuracy,
        write=stages[Stage.WRITE] / n if probed else None,
        read=stages[Stage.READ] / n if probed else None,
        utilization=stages[Stage.UTILIZATION] / n if probed else None,
        format=stages[Stage.FORMAT] / n,
        lucky=sum(d.lucky for d in diagnoses) / n if probed else None,
        random=random,
        upper=upper,
        memory=memory_score(accuracy, random, upper),
        probe_format_errors=sum(d.probe_format_errors for d in diagnoses),
        unknown_probes=sum(d.unknown_probes for d in diagnoses),
        traced=traced,
        trace={stage: earliest[stage] / n for stage in TraceStage} if traced else {},
    )


def memory_score(accuracy: float, random: float, upper: float | None) -> float | None:
    """Where accuracy lies between guessing (0) and the upper bound (1), not clipped.

    None where the upper bound is unknown or does not exceed guessing.
    """
    if upper is None or upper <= random:
        return None
    return (accuracy - random) / (upper - random)


def tokens_per_answer(rollouts: Iterable[Rollout]) -> float:
    """Prompt and completion tokens of reply, write and answer calls per answer.

    Those of the simulated user, the probes and the bounds are no part of it.

    Raises:
        ValueError: The rollouts hold no answers.
    """
    tokens = answers = 0
    for rollout in rollouts:
        answers += len(rollout.answers)
        for role, usage in rollout.usage:
            if role in TOKEN_ROLES:
                tokens += usage.prompt_tokens + usage.completion_tokens
    if answers == 0:
        raise ValueError("there are no answers to share the tokens")
    return tokens / answers


def scores_by_period(
    diagnoses: Sequence[Diagnosis], bounds: Bounds | None = None
) -> dict[int, Scores]:
    """Scores of each period, in order, its answers pooled over rollouts."""
    return _grouped(diagnoses, bounds, lambda d: d.period)


def scores_by_user(
    diagnoses: Sequence[Diagnosis], bounds: Bounds | None = None
) -> dict[str, Scores]:
    """Scores of each user, in order of id, the user's answers pooled over rollouts."""
    return _grouped(diagnoses, bounds, lambda d: d.user)


def table(rows: Mapping[str, Scores] | Mapping[int, Scores], index: str) -> pd.DataFrame:
    """Scores as a table.

    Args:
        rows: What a row is of, to its scores.
        index: Name of what a row is of.

    Returns:
        A row per key in the given order; a column per attribute of ``Scores`` but ``trace``, whose
        stages, where anything was traced, are columns of their own. What is undefined is NaN.
    """
    import pandas as pd

    names = [name for name in Scores.__slots__ if name != "trace"]
    stages = [stage for stage in TraceStage if any(s.trace for s in rows.values())]
    records = [
        {name: getattr(s, name) for name in names}
        | {stage.value: s.trace.get(stage, 0.0) for stage in stages}
        for s in rows.values()
    ]
    frame = pd.DataFrame(records, columns=[*names, *(stage.value for stage in stages)])
    for name in ("write", "read", "utilization", "lucky", "upper", "memory"):
        frame[name] = frame[name].astype(float)
    frame.index = pd.Index(list(rows), name=index)
    return frame


def state_table(diagnoses: Sequence[Diagnosis], truths: Mapping[str, UserTruth]) -> pd.DataFrame:
    """How each state type fares over the answers that require it.

    Args:
        diagnoses: Of any rollouts.
        truths: User id to truth, of every user among them.

    Returns:
        A row per state, indexed by its name, those with most blamed wrong answers first. Columns:
        ``n`` answers that require it; ``accuracy``, the share of them that is right; ``write``,
        ``read``, ``utilization`` and ``format``, the share that is wrong by this stage and blames
        this state; ``blamed``, the number of those; and a column per trace stage, the share whose
        trace says that this state was lost there. Stages of unprobed answers are not counted.
    """
    import pandas as pd

    required: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {}
    for d in diagnoses:
        states = sorted(set(truths[d.user].required[d.question]))
        for state in states:
            required[state] += 1
            counts = found.setdefault(state, Counter())
            if d.stage is Stage.RIGHT:
                counts["accuracy"] += 1
            elif state in d.failed_states and (d.probed or d.stage is Stage.FORMAT):
                counts[d.stage] += 1
                counts["blamed"] += 1
        for lost in d.trace:
            found[lost.state][lost.stage] += 1
    rates = ["accuracy", *(s.value for s in Stage if s is not Stage.RIGHT)]
    rates += [s.value for s in TraceStage]
    order = sorted(found, key=lambda state: (-found[state]["blamed"], state))
    records = [
        {"n": required[state], "blamed": found[state]["blamed"]}
        | {rate: found[state][rate] / required[state] for rate in rates}
        for state in order
    ]
    frame = pd.DataFrame(records, columns=["n", "blamed", *rates])
    frame.index = pd.Index(order, name="state", dtype=str)
    return frame


def _grouped(
    diagnoses: Sequence[Diagnosis], bounds: Bounds | None, key: Callable[[Diagnosis], _Key]
) -> dict[_Key, Scores]:
    groups: dict[_Key, list[Diagnosis]] = {}
    for diagnosis in diagnoses:
        groups.setdefault(key(diagnosis), []).append(diagnosis)
    return {name: score(groups[name], bounds) for name in sorted(groups)}


def _bound(diagnosis: Diagnosis, bounds: Bounds) -> float:
    place = (diagnosis.user, diagnosis.period, diagnosis.question)
    if place not in bounds:
        raise ValueError(f"the answer {place} has no upper bound")
    return bounds[place]
