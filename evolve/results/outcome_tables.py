"""What a run's files say at its end, as tables: test users, memory gain, spend, options."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from math import inf
from platform import python_version
from typing import Any

from evolve.gains import Lead, lead_rows
from evolve.results.evidence_search import MODELS, OPTIONS, STRATEGY, is_evidence_search
from evolve.results.run_record import RunRecord
from evolve.spent_table import OUTSIDE, TOKENS, dollars_cell
from evolve.stats import Interval
from evolve.tables import Table, number, option_text

_PACKAGES = ("dspy", "litellm", "optuna", "scikit-learn", "numpy", "pandas")
_RATES = ("accuracy", "write", "read", "utilization", "format", "memory")


def test_table(summary: Mapping[str, Any]) -> Table:
    """Seed, best and the baselines on test users.

    In scope ``user`` periods of both sides; what was found of the evidence where a run looked at
    that alone.
    """
    if summary.get("scope") == "user":
        rows = [
            (f"{name}, {side}", str(rates["n"]), *_rates(rates))
            for name, sides in summary["periods"].items()
            for side, rates in sides.items()
        ]
        return Table("By period, fixed and learned", ("period", "answers", *_RATES), tuple(rows))
    if "evidence" in summary:
        return _evidence_table(summary["evidence"])
    rows = [
        (name, one["policy"][:8], str(one["n"]), *_rates(one), _whole(one["tokens_per_answer"]))
        for name, one in summary["test"].items()
    ]
    columns = ("", "policy", "answers", *_RATES, "tokens/answer")
    return Table("On test users", columns, tuple(rows))


def _evidence_table(evidence: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            name,
            str(found["questions"]),
            number(found["recall"], 3),
            number(found["precision"], 4),
            _whole(found["tokens"]),
        )
        for name, found in evidence.items()
    )
    columns = ("", "questions", "recall", "precision", "tokens shown")
    return Table("Evidence found in test dialogues", columns, rows)


def memory_gain_table(summary: Mapping[str, Any]) -> Table:
    """The best less each baseline, with intervals."""
    found = {
        name: Lead(kept_interval(lead["memory"]), _interval(lead["accuracy"], "mean"))
        for name, lead in summary.get("over_baselines", {}).items()
    }
    columns = ("", "clusters", "memory score", "accuracy")
    return Table("Memory gain", columns, lead_rows("best", found))


def spent_table(summary: Mapping[str, Any]) -> Table:
    """What was spent by role, with dollars where a model was paid; no rows where none was asked."""
    paid = summary.get("paid", {})
    used = dict(summary.get("usage", {}))
    used |= {f"{role}{OUTSIDE}": usage for role, usage in summary.get("bound_usage", {}).items()}
    rows = []
    for role, usage in used.items():
        spend = paid.get(role.removesuffix(OUTSIDE))
        counted = usage if spend is None else spend
        cells = [f"{counted[name]:,}" for name in ("calls", "prompt_tokens", "completion_tokens")]
        if paid:
            cells.append("0" if spend is None else dollars_cell(spend["dollars"]))
        rows.append((role, *cells))
    dollars = ("dollars",) if paid else ()
    return Table("Spent by role", ("role", "calls", *TOKENS, *dollars), tuple(rows))


def options_table(record: RunRecord) -> Table:
    """What identifies the run."""
    told = [(name, _shown(value)) for name, value in record.options.items() if value is not None]
    if is_evidence_search(record.folder):
        told = [option for option in told if option[0] in OPTIONS]
        told = [("what", STRATEGY), ("models", MODELS), *told]
    found = [
        ("run", record.name),
        *told,
        ("seed policy", record.seed.id),
        ("best policy", record.best.id),
    ]
    return Table("Configuration", ("option", "value"), tuple(found))


def packages_table() -> Table:
    """What made the report: its libraries, those that decide numbers or texts."""
    rows = tuple((name, version(name)) for name in _PACKAGES)
    return Table("Libraries", ("library", "version"), (("python", python_version()), *rows))


def kept_interval(data: Mapping[str, Any] | None, mean: str = "mean") -> Interval | None:
    """An interval as ``summary.json`` keeps it: ends that are not finite are null.

    Args:
        data: The interval; None where it is undefined.
        mean: Under which key its estimate stands.
    """
    return None if data is None else _interval(data, mean)


def _interval(data: Mapping[str, Any], mean: str) -> Interval:
    low, high = data["low"], data["high"]
    ends = (-inf if low is None else low), (inf if high is None else high)
    return Interval(data[mean], *ends, data["clusters"])


def _rates(scores: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(number(scores[rate], 3) for rate in _RATES)


def _whole(value: float | None) -> str:
    return number(value, 0)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else option_text(value)
