"""The first stage that failed in each answer of a rollout: write, read, utilization or format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from feedback.records import Answer, Diagnosis, Rollout, Stage, StateProbe, StateTrace, UserTruth

Probes = Mapping[tuple[int, int], tuple[StateProbe, ...]]
"""(period, question) to its probe, one per required state in the question's order."""


@dataclass(frozen=True, slots=True)
class StateCounts:
    """The published per-state counts, each indexed [period][question].

    Attributes:
        write_failure: Required states probed wrong whose probe at their write period was wrong too.
        read_failure: Required states probed wrong whose probe at their write period was right.
        memory_success: 1 where every required state was probed right, else 0.
    """

    write_failure: tuple[tuple[int, ...], ...]
    read_failure: tuple[tuple[int, ...], ...]
    memory_success: tuple[tuple[int, ...], ...]


def diagnose(rollout: Rollout, truth: UserTruth) -> tuple[Diagnosis, ...]:
    """Say of each answer whether it was right, or which stage failed first.

    Wrong answers are traced through the memory too where ``truth.traceable``.

    Args:
        rollout: Its probed answers must come with the same questions' answers at every earlier
            period, as write periods are looked up there.
        truth: Of the rollout's user.

    Returns:
        One per answer, in the rollout's order.

    Raises:
        ValueError: The rollout failed, is another user's, or lacks a probe that is looked up.
    """
    probes = _probes(rollout, truth)
    traces = _traces(rollout, truth) if truth.traceable else {}
    return tuple(
        classify(answer, truth, probes, traces.get((answer.period, answer.question), ()))
        for answer in rollout.answers
    )


def classify(
    answer: Answer, truth: UserTruth, probes: Probes, trace: tuple[StateTrace, ...] = ()
) -> Diagnosis:
    """Diagnose one answer.

    A wrong answer is format if no choice could be read; else utilization if every required state
    was probed right; else write if some wrongly probed state was also wrong at its write period,
    by the same question's probe; else read. A right answer with a wrong probe is lucky.

    Raises:
        ValueError: ``probes`` lacks the probe of a write period.
    """
    required = tuple(dict.fromkeys(truth.required[answer.question]))
    wrong = _wrong(answer)
    unwritten = () if answer.right else _wrong_when_written(answer, truth, probes)
    failed: tuple[str, ...]
    if answer.right:
        stage, failed = Stage.RIGHT, ()
    elif answer.chosen is None:
        stage, failed = Stage.FORMAT, required
    elif not wrong:
        stage, failed = Stage.UTILIZATION, required
    elif unwritten:
        stage, failed = Stage.WRITE, unwritten
    else:
        stage, failed = Stage.READ, wrong
    return Diagnosis(
        user=truth.user,
        period=answer.period,
        question=answer.question,
        choices=answer.choices,
        stage=stage,
        lucky=answer.right and bool(wrong),
        failed_states=failed,
        probe_format_errors=sum(probe.format_error for probe in answer.probes),
        unknown_probes=sum(probe.unknown for probe in answer.probes),
        trace=trace,
        probed=bool(answer.probes),
    )


def count_states(rollout: Rollout, truth: UserTruth) -> StateCounts:
    """Count failures per state as the published ``diagnosis_metrics.json`` does.

    Every wrongly probed state counts once, whatever was answered, so a question has as many
    failures as wrong states, and a state that it requires twice counts twice. An unparsable probe
    is a wrong one. Answers and these counts are not the diagnosis: that has one stage per answer.

    Raises:
        ValueError: As ``diagnose``; or the answers are not all questions of all periods.
    """
    probes = _probes(rollout, truth)
    periods = 1 + max((answer.period for answer in rollout.answers), default=-1)
    questions = len(truth.queries)
    write = [[0] * questions for _ in range(periods)]
    read = [[0] * questions for _ in range(periods)]
    success = [[0] * questions for _ in range(periods)]
    if len(probes) != periods * questions:
        raise ValueError(
            f"{len(probes)} probes are not {periods} periods times {questions} questions"
        )
    for (period, question), asked in probes.items():
        for position, probe in enumerate(asked):
            if not probe.right:
                early = _when_written(period, question, position, truth, probes).right
                (read if early else write)[period][question] += 1
        success[period][question] = int(all(probe.right for probe in asked))
    return StateCounts(*(tuple(map(tuple, counts)) for counts in (write, read, success)))


def _probes(rollout: Rollout, truth: UserTruth) -> Probes:
    if rollout.failure is not None:
        raise ValueError(f"a failed rollout has no diagnosis: {rollout.failure}")
    if rollout.user != truth.user:
        raise ValueError(f"the rollout is of user {rollout.user}, the truth of {truth.user}")
    probes = {}
    for answer in rollout.answers:
        names = tuple(probe.state for probe in answer.probes)
        if names and names != truth.required[answer.question]:
            raise ValueError(f"question {answer.question} requires other states than {names}")
        if names:
            probes[answer.period, answer.question] = answer.probes
    return probes


def _traces(rollout: Rollout, truth: UserTruth) -> Mapping[tuple[int, int], tuple[StateTrace, ...]]:
    """The trace of every wrong answer that was probed; the memory is indexed once."""
    from feedback.trace import index_rollout, trace_answer

    index = index_rollout(rollout)
    return {
        (answer.period, answer.question): trace_answer(answer, index, truth)
        for answer in rollout.answers
        if not answer.right and answer.probes
    }


def _wrong(answer: Answer) -> tuple[str, ...]:
    return tuple(dict.fromkeys(probe.state for probe in answer.probes if not probe.right))


def _wrong_when_written(answer: Answer, truth: UserTruth, probes: Probes) -> tuple[str, ...]:
    """Wrongly probed states that were wrong at their write period too."""
    found: dict[str, None] = {}
    for position, probe in enumerate(answer.probes):
        if probe.right:
            continue
        early = _when_written(answer.period, answer.question, position, truth, probes)
        if not early.right:
            found[probe.state] = None
    return tuple(found)


def _when_written(
    period: int, question: int, position: int, truth: UserTruth, probes: Probes
) -> StateProbe:
    """The same question's probe of its state at ``position``, at that state's write period."""
    written = truth.write_period(truth.required[question][position], period)
    if (written, question) not in probes:
        raise ValueError(
            f"question {question} at period {period} needs its probe at period {written}"
        )
    return probes[written, question][position]
