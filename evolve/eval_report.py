"""What ``python -m evolve.eval`` prints of an assessment: tables, or JSON with the same numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from evolve.assess import Assessed, Assessment
from evolve.gains import lead_rows
from evolve.lm.meter import add_usage
from evolve.money import Paid
from evolve.spent_table import paid_table, usage_table
from evolve.stats import Interval
from evolve.tables import Table, number
from feedback.records import TraceStage, Usage
from feedback.scores import Scores
from policies.policy import Policy

_SCORES = ("answers", "accuracy", "random", "upper bound", "memory score", "tokens/answer")
_STAGES = ("right", "(lucky)", "write", "read", "utilization", "format")
_STEPS = tuple(stage.value for stage in TraceStage)


def named(policy: Policy) -> str:
    """How a policy is called in a table: its name, or architecture, and its id."""
    return f"{policy.name or policy.architecture} {policy.short_id}"


def tables_of(assessment: Assessment, paid: Paid | None = None) -> list[Table]:
    """The assessment as tables.

    Args:
        assessment: What is reported.
        paid: What it paid; None where all roles are played offline.
    """
    asked = {one.policy.id: one for one in assessment.assessed}
    assessed = list((asked | {one.policy.id: one for one in assessment.beside}).values())
    tables = [_scores(assessed), _stages(assessed), *_trace(assessed), *_gains(assessment)]
    for one in asked.values():
        tables += [_periods(one), *_trace_by_period(one)]
    if len(assessment.assessed) > 1:
        tables.append(_difference(assessment))
    return [*tables, _spent(assessment, assessed, paid)]


def to_json(header: Mapping[str, Any], assessment: Assessment) -> str:
    """The assessment as JSON, not rounded; ``null`` where a number is undefined or infinite.

    Args:
        header: What to say first, such as the seed.
        assessment: What is reported.
    """
    compared = len(assessment.assessed) > 1
    content = {
        "schema": 1,
        **header,
        "users": assessment.users,
        "policies": [_policy_data(one) for one in assessment.assessed],
        "difference": {
            "memory": _interval_data(assessment.memory),
            "accuracy": _interval_data(assessment.accuracy),
        }
        if compared
        else None,
        "baselines": [_policy_data(one) for one in assessment.beside],
        "memory_gain": {
            name: {
                "memory": _interval_data(lead.memory),
                "accuracy": _interval_data(lead.accuracy),
            }
            for name, lead in assessment.gains.items()
        },
        "bound_usage": _usage_data(assessment.bound_usage),
        "failures": [
            {"policy": r.policy, "user": r.user, "kind": r.failure_kind, "reason": r.failure}
            for r in assessment.failures
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _scores(assessed: Sequence[Assessed]) -> Table:
    rows = tuple(
        (
            named(one.policy),
            str(one.total.n),
            number(one.total.accuracy),
            number(one.total.random),
            number(one.total.upper),
            _memory(one.total),
            number(one.tokens, 1),
        )
        for one in assessed
    )
    return Table("Scores", ("policy", *_SCORES), rows)


def _stages(assessed: Sequence[Assessed]) -> Table:
    rows = tuple(
        (
            named(one.policy),
            *_stage_cells(one.total),
            str(one.total.probe_format_errors),
            str(one.total.unknown_probes),
        )
        for one in assessed
    )
    columns = ("policy", *_STAGES, "unparsable states", "unknown states")
    return Table("Answers by stage, as shares; probed states, counted", columns, rows)


def _trace(assessed: Sequence[Assessed]) -> list[Table]:
    rows = tuple(
        (named(one.policy), str(one.total.traced), *_step_cells(one.total))
        for one in assessed
        if one.total.trace
    )
    title = "Trace: the step that lost it, as shares of all answers"
    return [Table(title, ("policy", "traced", *_STEPS), rows)] if rows else []


def _periods(one: Assessed) -> Table:
    sizes = dict(enumerate(one.memory_tokens))
    rows = tuple(
        (
            str(period),
            str(scores.n),
            *_stage_cells(scores),
            number(scores.upper),
            _memory(scores),
            number(sizes.get(period), 0),
        )
        for period, scores in one.periods.items()
    )
    columns = ("period", "answers", *_STAGES, "upper bound", "memory score", "memory tokens")
    return Table(f"By period: {named(one.policy)}", columns, rows)


def _trace_by_period(one: Assessed) -> list[Table]:
    rows = tuple(
        (str(period), str(scores.traced), *_step_cells(scores))
        for period, scores in one.periods.items()
        if scores.trace
    )
    title = f"Trace by period: {named(one.policy)}"
    return [Table(title, ("period", "traced", *_STEPS), rows)] if rows else []


def _difference(assessment: Assessment) -> Table:
    mine, other = assessment.assessed[:2]
    measures = (
        ("memory score", mine.total.memory, other.total.memory, assessment.memory),
        ("accuracy", mine.total.accuracy, other.total.accuracy, assessment.accuracy),
    )
    rows = tuple(
        (name, number(a), number(b), *_interval_cells(interval))
        for name, a, b, interval in measures
    )
    title = (
        f"Paired difference: {named(mine.policy)} less {named(other.policy)}, clusters are users"
    )
    columns = ("", mine.policy.short_id, other.policy.short_id, "difference", "95 % interval")
    return Table(title, columns, rows)


def _gains(assessment: Assessment) -> list[Table]:
    """What memory brings: the model and the questions are the same."""
    rows = lead_rows(named(assessment.assessed[0].policy), assessment.gains)
    title = "Memory gain: same model, same questions, paired, with 95 % intervals over users"
    return [Table(title, ("policy", "users", "memory score", "accuracy"), rows)] if rows else []


def _spent(assessment: Assessment, assessed: Sequence[Assessed], paid: Paid | None) -> Table:
    total: tuple[tuple[str, Usage], ...] = ()
    for one in assessed:
        total = add_usage(total, one.usage)
    total = add_usage(total, assessment.bound_usage)
    if paid is None:
        return usage_table("Spent", total)
    return paid_table(f"Spent: {paid.line}", total, paid)


def _stage_cells(scores: Scores) -> tuple[str, ...]:
    rates = (
        scores.accuracy,
        scores.lucky,
        scores.write,
        scores.read,
        scores.utilization,
        scores.format,
    )
    return tuple(number(rate, 3) for rate in rates)


def _step_cells(scores: Scores) -> tuple[str, ...]:
    return tuple(number(scores.trace[stage], 3) for stage in TraceStage)


def _interval_cells(interval: Interval | None) -> tuple[str, str]:
    if interval is None:
        return "undefined", "-"
    if not isfinite(interval.low):
        return f"{interval.mean:+.4f}", "none from one user"
    return f"{interval.mean:+.4f}", f"[{interval.low:.4f}, {interval.high:.4f}]"


def _memory(scores: Scores) -> str:
    return number(scores.memory, missing="undefined")


def _policy_data(one: Assessed) -> dict[str, Any]:
    return {
        "name": one.policy.name,
        "id": one.policy.id,
        "architecture": one.policy.architecture,
        "tokens_per_answer": one.tokens,
        "all": _scores_data(one.total),
        "periods": [_scores_data(scores) for scores in one.periods.values()],
        "memory_tokens": list(one.memory_tokens),
        "usage": _usage_data(one.usage),
    }


def _scores_data(scores: Scores) -> dict[str, Any]:
    return asdict(scores) | {"trace": {step.value: rate for step, rate in scores.trace.items()}}


def _usage_data(usage: Sequence[tuple[str, Usage]]) -> dict[str, Any]:
    return {role: asdict(spent) for role, spent in usage}


def _interval_data(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    ends = {end: getattr(interval, end) for end in ("low", "high")}
    bounded = {end: value if isfinite(value) else None for end, value in ends.items()}
    return {"mean": interval.mean, **bounded, "users": interval.n}
