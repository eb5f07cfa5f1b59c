"""One run in numbers: what it was asked, its versions, what became of candidates, test users."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from evolve.money import money
from evolve.results.candidates import CandidateRecord
from evolve.results.evidence_search import (
    MODELS,
    STRATEGY,
    found_table,
    is_evidence_search,
    limit_told,
)
from evolve.results.listing import shown_gain
from evolve.results.run_record import RunRecord
from evolve.tables import Table, number, option_text
from policies.policy import Policy

_SCORES = ("accuracy", "write", "read", "utilization", "format", "memory")


def overview(record: RunRecord) -> list[Table]:
    """A run as tables; empty ones are left out."""
    tables = (
        _run(record),
        _versions(record),
        _candidates(record),
        _own(record),
        _test(record),
        _evidence(record),
    )
    return [table for table in tables if table.rows]


def to_json(record: RunRecord) -> str:
    """The same as JSON, not rounded, with every candidate and its verdict."""
    content = {
        "schema": 1,
        "run": record.name,
        "folder": str(record.folder),
        "state": _state(record),
        "options": dict(record.options),
        "environment_found": record.users is not None,
        "seed": record.seed.id,
        "best": record.best.id,
        "rollbacks": list(record.rollbacks),
        "versions": [_policy_data(policy) for policy in record.versions],
        "candidates": [_candidate_data(one) for one in record.candidates],
        "own": {user: policy.id for user, policy in record.own.items()},
        "summary": record.summary,
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _state(record: RunRecord) -> str:
    if record.redacted:
        return "redacted"
    return "unfinished" if record.summary is None else "ended"


def _run(record: RunRecord) -> Table:
    summary = record.summary or {}
    best = f"{record.best.name} {record.best.short_id}"
    if record.options["scope"] == "user":
        best = "one for each user"
    environment = str(record.options["env"])
    if record.users is None:
        environment += " (gone or changed since: answers cannot be diagnosed)"
    models: Iterable[str] = dict.fromkeys(
        (record.models.model, record.models.user_model, record.models.rewrite_model)
    )
    strategy = f"{record.options['strategy']}, scope {record.options['scope']}"
    limit = "limit"
    gained, gain = "memory score gained", shown_gain(summary.get("gain"))
    searched = is_evidence_search(record.folder)
    if searched:
        strategy, models = STRATEGY, (MODELS,)
        gained, gain = "evidence recall gained", shown_gain(summary.get("recall_gain"), "mean")
    if _is_rolled_back(record):
        gained, limit = f"{gained} by what the run found", "limit, of what the run found"
    rows = [
        ("folder", str(record.folder)),
        ("state", _state(record)),
        ("strategy", strategy),
        ("environment", environment),
        ("models", ", ".join(models)),
        ("seed of random choices", option_text(record.options["seed"])),
        ("budget", _spent(record)),
        ("seed policy", f"{record.seed.name} {record.seed.short_id}"),
        ("best policy", best),
        *_rolled_back(record),
        (gained, gain),
        ("paid", _paid(summary)),
        ("ended", str(summary.get("ended", "-"))),
    ]
    if searched and summary:
        rows.append((limit, limit_told(summary)))
    if record.missing:
        rows.append(("without a file", ", ".join(record.missing)))
    return Table(f"Run {record.name}", ("what", "value"), tuple(rows), left=2)


def _rolled_back(record: RunRecord) -> list[tuple[str, str]]:
    """A row where another version is in force than the run found."""
    if not _is_rolled_back(record):
        return []
    found = (record.summary or {})["best_policy"]
    name = record.policies[found].name
    return [("rolled back", f"the run found {name} {found[:8]}; best.yaml is the one above")]


def _is_rolled_back(record: RunRecord) -> bool:
    found = (record.summary or {}).get("best_policy")
    return bool(record.rollbacks) and found not in {None, record.best.id}


def _spent(record: RunRecord) -> str:
    """Of the budget; of a run that goes on what its journal holds, which knows no charges."""
    budget = option_text(record.options["budget"])
    if record.summary is not None or is_evidence_search(record.folder):
        return f"{number((record.summary or {}).get('spent'), 1)} of {budget} spent"
    return f"{len(record.rollouts)} rollouts and {len(record.replays)} replays so far, of {budget}"


def _paid(summary: Mapping[str, Any]) -> str:
    if "paid" not in summary:
        return "-"
    dollars = [spend["dollars"] for spend in summary["paid"].values()]
    return "unpriced" if None in dollars else money(sum(dollars))


def _versions(record: RunRecord) -> Table:
    accepted = {one.policy.id: one for one in record.candidates if one.verdict.accepted}
    rows = tuple(_version(policy, accepted.get(policy.id)) for policy in record.versions)
    columns = ("version", "operator", "parents", "minibatch", "tokens/answer")
    if is_evidence_search(record.folder):
        columns = (*columns[:3], "recall gained on train", "tokens shown on train")
    return Table("Versions, the seed first", columns, rows)


def _version(policy: Policy, made: CandidateRecord | None) -> tuple[str, ...]:
    verdict = None if made is None else made.verdict
    return (
        f"{policy.name or policy.architecture} {policy.short_id}",
        policy.lineage.operator,
        ", ".join(parent[:8] for parent in policy.lineage.parents) or "-",
        number(None if verdict is None else verdict.minibatch_difference, 3),
        number(None if verdict is None else verdict.tokens_per_answer, 0),
    )


def _candidates(record: RunRecord) -> Table:
    """How many were decided where."""
    counts = Counter(
        "accepted" if one.verdict.accepted else f"rejected: {one.verdict.stage}"
        for one in record.candidates
    )
    rows = tuple((outcome, str(count)) for outcome, count in sorted(counts.items()))
    return Table("Candidates", ("outcome", "candidates"), rows)


def _own(record: RunRecord) -> Table:
    rows = tuple((user, policy.short_id) for user, policy in sorted(record.own.items()))
    return Table("Policies that users' lives ended with", ("user", "policy"), rows)


def _test(record: RunRecord) -> Table:
    tested: Mapping[str, Any] = (record.summary or {}).get("test", {})
    rows = tuple(
        (
            f"{_called(record, name)} {scores['policy'][:8]}",
            str(scores["n"]),
            *(number(scores[rate], 3) for rate in _SCORES),
            number(scores["tokens_per_answer"], 0),
        )
        for name, scores in tested.items()
    )
    return Table("Test users", ("policy", "answers", *_SCORES, "tokens/answer"), rows)


def _evidence(record: RunRecord) -> Table:
    """Where settings were searched by the evidence that they find."""
    found: Mapping[str, Any] = (record.summary or {}).get("evidence", {})
    named = {_called(record, name): one for name, one in found.items()}
    return found_table("Test dialogues", named)


def _called(record: RunRecord, tested: str) -> str:
    """What a summary calls ``best`` is not so where another version is in force."""
    return "found" if tested == "best" and _is_rolled_back(record) else tested


def _policy_data(policy: Policy) -> dict[str, Any]:
    return {"id": policy.id, "name": policy.name, **asdict(policy.lineage)}


def _candidate_data(one: CandidateRecord) -> dict[str, Any]:
    return {"name": one.name, "policy": one.policy.id, **asdict(one.verdict)}
