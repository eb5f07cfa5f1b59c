"""The report of a run as one HTML page that needs nothing else: no network, no other file.

What users and models said is escaped wherever it stands, and a policy of the page itself forbids
every script but its own and every request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.inputs import STAND_IN, called
from evolve.optimize.credit import UNSCORED
from evolve.results.charts import charts_of
from evolve.results.curves import Cohort, cohort_of
from evolve.results.evidence_search import TOLD, is_evidence_search, limit_told
from evolve.results.failures import failures_of
from evolve.results.front import front_of
from evolve.results.headline import headline_of
from evolve.results.lineage_tree import tree_of
from evolve.results.markdown import to_html
from evolve.results.outcome_tables import (
    memory_gain_table,
    options_table,
    packages_table,
    spent_table,
    test_table,
)
from evolve.results.plot_style import POLICIES, STAGES
from evolve.results.run_record import CandidateRecord, RunRecord
from evolve.results.text_changes import Changes, changes
from evolve.roles import OFFLINE
from evolve.tables import Table
from feedback.document import TRACE_MEANINGS
from policies.policy import Policy

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).with_name("templates")
_FEEDBACK_BYTES = 1_000_000  # of Markdown in all; what is over it is left to its files


@dataclass(frozen=True, slots=True)
class _Shown:
    """A policy as the page tells it.

    Attributes:
        name: ``seed``, or the candidate's, such as ``gen-003.1``.
        policy: The policy.
        candidate: As the run recorded it; None for the seed.
        changes: From its parent; None where that is not known.
        parent: Name of the parent, or the beginning of its id.
        against: Name of the policy that it was compared with; empty where it was not.
        best: Whether it is the best version.
    """

    name: str
    policy: Policy
    candidate: CandidateRecord | None
    changes: Changes | None
    parent: str
    against: str
    best: bool


@dataclass(frozen=True, slots=True)
class _Generation:
    """A generation: what it learned from, and what it proposed.

    Attributes:
        number: From 1.
        feedback: As HTML; empty where there is none.
        said: What stands in place of feedback that is not shown.
        candidates: In order.
    """

    number: int
    feedback: str
    said: str
    candidates: tuple[_Shown, ...]

    @property
    def accepted(self) -> int:
        """How many candidates became versions."""
        return sum(bool(c.candidate and c.candidate.verdict.accepted) for c in self.candidates)


def page_of(record: RunRecord) -> str:
    """The page of a run, whether it has ended or not; the same run gives the same bytes.

    Raises:
        UserError: A file of the run is damaged.
    """
    cohort, front = cohort_of(record), front_of(record)
    shown = list(_policies(record))
    template = _templates().get_template("report.html.j2")
    style, script = ((_TEMPLATES / name).read_text("utf-8") for name in ("page.css", "page.js"))
    return template.render(
        record=record,
        style=style,
        script=script,
        colours=STAGES | {name: POLICIES[name] for name in ("seed", "best")},
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        headline=headline_of(record),
        notes=list(_notes(record, cohort)),
        tables=_tables(record) | ({"front": front.table} if front.table.rows else {}),
        front_told=front.told,
        by_evidence=is_evidence_search(record.folder),
        charts=charts_of(record, cohort),
        tree=tree_of(record),
        seed=shown[0],
        generations=list(_generations(record, shown[1:])),
        own=[_own(record, user) for user in record.own],
        meanings={step: str(told) for step, told in TRACE_MEANINGS.items()},
        **_failures(record, cohort),
    )


def _notes(record: RunRecord, cohort: Cohort | None) -> Iterator[str]:
    """What must be known before a number is read."""
    asked = not is_evidence_search(record.folder)
    if not asked:
        yield TOLD
    if not asked and record.summary is not None:
        yield limit_told(record.summary)
    if record.models.real:
        yield called(record.models)
    if asked and OFFLINE in (record.models.model, record.models.user_model):
        yield STAND_IN
    if record.summary is None:
        yield "this run has not ended, so all that is shown is of users that it chooses by"
    if record.rollbacks:
        yield (
            f"the run was rolled back to {record.best.short_id}; the figures of the end are those "
            "of what it found itself"
        )
    if record.redacted:
        yield "what users said was removed from this run, so no wrong answer can be looked into"
    if record.users is None:
        yield (
            f"the environment file {record.options['env']} is gone or was changed since, so there "
            "are no curves and no wrong answers here"
        )
    elif cohort is None and asked:
        yield "no users were scored with all policies yet, so there are no curves"
    if record.missing:
        yield f"candidates whose files are gone are left out: {', '.join(record.missing)}"


def _tables(record: RunRecord) -> dict[str, Table]:
    """Tables by name; what the run has not come to is missing."""
    summary = record.summary
    found: dict[str, Table] = {"options": options_table(record), "packages": packages_table()}
    if summary is not None:
        found["test"] = test_table(summary)
        found["gain"] = memory_gain_table(summary)
        found["spent"] = spent_table(summary)
    return {name: table for name, table in found.items() if table.rows}


def _failures(record: RunRecord, cohort: Cohort | None) -> dict[str, Any]:
    """The wrong answers as the page's script reads them, or nothing."""
    if cohort is None or record.redacted:
        return {"failures": None, "failures_json": "", "part": ""}
    found = failures_of(record, cohort)
    packed = json.dumps(found.data, ensure_ascii=False, separators=(",", ":"))
    # Inside a script element only these could end it, or begin another one.
    safe = packed.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return {"failures": found, "failures_json": safe, "part": cohort.part}


def _policies(record: RunRecord) -> Iterator[_Shown]:
    """The seed, then every candidate in order."""
    best, names = record.best.id, {record.seed.id: "seed"}
    yield _Shown("seed", record.seed, None, None, "", "", record.seed.id == best)
    for one in record.candidates:
        parent = record.policies.get(one.parents[0]) if one.parents else None
        called = " and ".join(names.get(id_, id_[:8]) for id_ in one.parents)
        changed = None if parent is None else changes(parent, _proposed(one))
        is_best = one.verdict.accepted and one.policy.id == best
        against = ""
        if one.verdict.stage not in UNSCORED:
            against = names.get(one.verdict.incumbent, one.verdict.incumbent[:8])
        yield _Shown(one.name, one.policy, one, changed, called, against, is_best)
        names.setdefault(one.policy.id, one.name)


def _proposed(one: CandidateRecord) -> Policy:
    """A candidate; where it was refused, its parent with the texts that were."""
    if one.changed:
        return one.policy
    texts = (one.proposal.get("proposal") or {}).get("texts", {})
    return replace(one.policy, texts={**one.policy.texts, **texts})


def _own(record: RunRecord, user: str) -> _Shown:
    """The policy that a user's life ended with."""
    policy = record.own[user]
    return _Shown(user, policy, None, changes(record.seed, policy), "seed", "", best=False)


def _generations(record: RunRecord, shown: list[_Shown]) -> Iterator[_Generation]:
    members: dict[int, list[_Shown]] = {number: [] for number in record.feedback}
    for one in shown:
        if one.candidate is not None:
            members.setdefault(one.candidate.generation, []).append(one)
    first: dict[str, int] = {}
    room = _FEEDBACK_BYTES
    for number in sorted(members):
        text, html, said = record.feedback.get(number, ""), "", ""
        same = first.setdefault(text, number)
        if text and same != number:
            said = f"The same feedback as for generation {same}."
        elif len(text.encode()) > room:
            said = f"Left out to keep this page small; it is in feedback/gen-{number:03d}.md."
        elif text:
            room -= len(text.encode())
            html = to_html(text)
        yield _Generation(number, html, said, tuple(members[number]))


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
