"""What there is to say of policies on dialogues: tables, notes, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from statistics import fmean

from evolve.gym.overlap import RIGHT
from evolve.gym.recorded import OFF_POLICY
from evolve.locomo.assessment import Answers
from evolve.locomo.dialogues import CATEGORIES, Dialogue
from evolve.locomo.reading import odd_lines
from evolve.locomo.retrieval import Found, by_category, mean_of
from evolve.locomo.retrieval_tables import retrieval_table
from evolve.locomo.scoring import Scored
from evolve.stats import Interval
from evolve.tables import Table, number
from feedback.records import Stage

_STAGES = (Stage.RIGHT, Stage.WRITE, Stage.READ, Stage.UTILIZATION, Stage.FORMAT)


def notes_of(dialogues: Sequence[Dialogue]) -> list[str]:
    """What must be known of the dialogues before the numbers."""
    return [*odd_lines(dialogues), OFF_POLICY]


def notes_on(answers: Answers) -> list[str]:
    """What must be known of the answers before the numbers."""
    notes = [RIGHT] + ([] if answers.paid is None else [answers.paid.line])
    for one in answers.failures:
        whose = "its own fault" if one.failure_kind == "policy" else "from outside"
        notes.append(
            f"{one.policy[:8]} failed on dialogue {one.user}, which is left out ({whose}): "
            f"{one.failure}"
        )
    return notes


def tables_of(
    named: Mapping[str, str], found: Mapping[str, Sequence[Found]], answers: Answers | None
) -> list[Table]:
    """What was found, and what was answered.

    Args:
        named: Policy id to what it is called.
        found: Policy id to what it finds without a model.
        answers: How policies answer; None without a model.
    """
    tables = []
    if found:
        by_name = {named[policy]: one for policy, one in found.items()}
        tables.append(retrieval_table("Without a model, nothing retired", by_name))
    if answers is not None:
        tables.append(_answer_table(named, answers))
    return tables


def difference_line(difference: Interval) -> str:
    """The paired difference in F1 in one line."""
    return (
        f"token F1, first policy less second: {difference.mean:+.3f} [{difference.low:.3f}, "
        f"{difference.high:.3f}], over {difference.n} dialogues"
    )


def to_json(
    notes: Sequence[str],
    found: Mapping[str, Sequence[Found]],
    answers: Answers | None,
    difference: Interval | None,
) -> str:
    """All of it, not rounded."""
    content = {
        "notes": list(notes),
        "evidence": {
            policy: {
                **{CATEGORIES[c]: asdict(mean) for c, mean in by_category(one).items()},
                "all": asdict(mean_of(one)),
            }
            for policy, one in found.items()
        },
        "answers": {
            policy: {"tokens_per_answer": one.tokens, **_by_category(one.scored)}
            for policy, one in (answers.answered.items() if answers else ())
        },
        "f1_difference": None
        if difference is None
        else {
            "mean": difference.mean,
            "low": difference.low if isfinite(difference.low) else None,
            "high": difference.high if isfinite(difference.high) else None,
            "dialogues": difference.n,
        },
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _by_category(scored: Sequence[Scored]) -> dict[str, dict[str, float | None]]:
    return {name: _numbers(group) for name, group in _groups(scored).items()}


def _groups(scored: Sequence[Scored]) -> dict[str, list[Scored]]:
    """Category to its answers, then all of them."""
    groups: dict[str, list[Scored]] = {}
    for one in sorted(scored, key=lambda s: s.category):
        groups.setdefault(CATEGORIES[one.category], []).append(one)
    return {**groups, "all": list(scored)}


def _numbers(scored: Sequence[Scored]) -> dict[str, float | None]:
    """Means; stages are shares of the answers that have one, so they add up to 1."""
    staged = [one.stage for one in scored if one.stage is not None]
    kept = [one.kept for one in scored if one.kept is not None]
    shown = [one.shown for one in scored if one.shown is not None]
    return {
        "questions": len(scored),
        "f1": fmean(one.f1 for one in scored),
        **{stage.value: staged.count(stage) / len(staged) if staged else None for stage in _STAGES},
        "evidence_in_memory": fmean(kept) if kept else None,
        "evidence_shown": fmean(shown) if shown else None,
    }


def _answer_table(named: Mapping[str, str], answers: Answers) -> Table:
    rows = []
    for policy, one in answers.answered.items():
        for category, group in _groups(one.scored).items():
            count, *others = _numbers(group).values()
            cells = [number(value, 3) for value in others]
            tokens = number(one.tokens, 0) if category == "all" else ""
            rows.append((f"{named[policy]}, {category}", number(count, 0), *cells, tokens))
    columns = ("policy, category", "questions", "F1", *(stage.value for stage in _STAGES))
    columns = (*columns, "in memory", "shown", "tokens/answer")
    return Table("Answers: token F1, stages by the evidence", columns, tuple(rows))
