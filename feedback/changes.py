"""What a candidate does better and worse than another policy, by the states that are blamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from feedback.records import Diagnosis, Stage


def blame_changes(ours: Iterable[Diagnosis], theirs: Iterable[Diagnosis]) -> dict[str, int]:
    """State to the wrong answers blamed on it in ``ours`` less those in ``theirs``.

    Only answers that both have count, and states without a change are left out. A state is blamed
    for a wrong answer where its trace, or its stage without a trace, names it; most changed first.
    """
    mine, other = ({_key(d): d for d in diagnoses} for diagnoses in (ours, theirs))
    shared = mine.keys() & other.keys()
    change = Counter(state for key in shared for state in _blamed(mine[key]))
    change.subtract(state for key in shared for state in _blamed(other[key]))
    changed = [(state, count) for state, count in change.items() if count]
    return dict(sorted(changed, key=lambda item: (-item[1], item[0])))


def _key(diagnosis: Diagnosis) -> tuple[str, int, int]:
    return diagnosis.user, diagnosis.period, diagnosis.question


def _blamed(diagnosis: Diagnosis) -> tuple[str, ...]:
    if diagnosis.stage is Stage.RIGHT:
        return ()
    if diagnosis.trace and diagnosis.stage is not Stage.FORMAT:
        return tuple(dict.fromkeys(lost.state for lost in diagnosis.trace))
    return diagnosis.failed_states
