"""Where the policies of a run come from, and which failures each accepted change removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evolve.results.curves import FAILURES, shared_answers
from evolve.results.run_record import CandidateRecord, RunRecord, diagnoses
from feedback.records import Diagnosis, Stage

if TYPE_CHECKING:
    import pandas as pd

SEED = "seed"
_COLUMNS = (
    "name",
    "policy",
    "parents",
    "generation",
    "operator",
    "accepted",
    "best",
    "stage",
    "difference",
    "tokens",
    "reason",
)


def family(record: RunRecord) -> pd.DataFrame:
    """The family tree of a run: a row for the seed and one for each candidate, in order.

    Returns:
        Columns ``name`` (``seed``, else such as ``gen-003.1``), ``policy`` (its id), ``parents``
        (names, the first the one that was changed; empty for the seed), ``generation``,
        ``operator``, ``accepted``, ``best``, ``stage`` (where it was decided), ``difference``
        (mean paired one in accuracy on the minibatch, else off-policy; NaN where neither is known),
        ``tokens`` (per answer, or NaN) and ``reason``.
    """
    import pandas as pd

    names = {record.seed.id: SEED}
    seed = record.seed.id
    rows: list[tuple[object, ...]] = [
        (SEED, seed, (), 0, SEED, True, record.best.id == seed, SEED, None, None, "")
    ]
    for candidate in record.candidates:
        policy, verdict = candidate.policy, candidate.verdict
        difference = verdict.minibatch_difference
        rows.append(
            (
                candidate.name,
                policy.id,
                tuple(names.get(parent, parent[:8]) for parent in candidate.parents),
                candidate.generation,
                candidate.operator,
                verdict.accepted,
                verdict.accepted and policy.id == record.best.id,
                verdict.stage,
                verdict.heard_difference if difference is None else difference,
                verdict.tokens_per_answer,
                verdict.reason,
            )
        )
        names.setdefault(policy.id, candidate.name)
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return frame.astype({"difference": float, "tokens": float})


def accepted(record: RunRecord) -> tuple[CandidateRecord, ...]:
    """The candidates that became versions, in order."""
    return tuple(c for c in record.candidates if c.verdict.accepted)


@dataclass(frozen=True, slots=True)
class Change:
    """Two policies on the answers that both gave, whoever's, in the same order.

    Attributes:
        before: Diagnoses of the one, such as the version that a candidate was compared with.
        after: Those of the other. Where it was accepted on some of these answers, it looks a little
            better there than it is.
    """

    before: tuple[Diagnosis, ...]
    after: tuple[Diagnosis, ...]


def change_of(record: RunRecord, before: str, after: str) -> Change:
    """What two policies of a run, named by their ids, said to the same questions."""
    if record.users is None:
        return Change((), ())
    found = {name: tuple(diagnoses(record, name)) for name in (before, after)}
    shared = shared_answers(found)
    at = {(d.user, d.period, d.question): d for d in shared[after]}
    one = shared[before]
    return Change(one, tuple(at[d.user, d.period, d.question] for d in one))


def removed(change: Change) -> pd.DataFrame:
    """The failures of one policy less those of another, by state and stage.

    Returns:
        A row per state and stage that fails anywhere, states that lost most failures first, with
        columns ``state``, ``measure`` (of ``FAILURES``), ``before`` and ``after``, both numbers of
        answers of which the stage blames this state, ``change`` (after less before) and
        ``answers``, the number of answers that both gave.
    """
    import pandas as pd

    counts = [_blamed(change.before), _blamed(change.after)]
    answers = len(change.before)
    rows = [
        (state, stage, counts[0][state, stage], counts[1][state, stage], answers)
        for state, stage in sorted(counts[0].keys() | counts[1].keys())
    ]
    frame = pd.DataFrame(rows, columns=["state", "measure", "before", "after", "answers"])
    frame.insert(4, "change", frame["after"] - frame["before"])
    frame["measure"] = pd.Categorical(frame["measure"], FAILURES)
    total = frame.groupby("state")["change"].sum()
    return (
        frame.assign(total=frame["state"].map(total))
        .sort_values(["total", "state", "measure"], kind="stable")
        .drop(columns="total")
        .reset_index(drop=True)
    )


def moves(change: Change) -> pd.DataFrame:
    """How answers that both policies gave moved between right and the stages that fail.

    Returns:
        Numbers of answers: a row per stage under ``before``, a column per stage under ``after``.
    """
    import pandas as pd

    pairs = Counter(
        (was.stage, is_.stage) for was, is_ in zip(change.before, change.after, strict=True)
    )
    table = [[pairs[was, is_] for is_ in Stage] for was in Stage]
    names = [stage.value for stage in Stage]
    return pd.DataFrame(
        table, pd.Index(names, name="before"), pd.Index(names, name="after"), dtype=int
    )


def _blamed(given: Sequence[Diagnosis]) -> Counter[tuple[str, str]]:
    return Counter(
        (state, d.stage.value)
        for d in given
        if d.stage is not Stage.RIGHT
        for state in d.failed_states
    )
