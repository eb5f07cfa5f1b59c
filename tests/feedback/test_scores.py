"""Scores of hand-made diagnoses, pooled and in tables."""

import math

import pytest

from feedback.records import (
    Answer,
    Diagnosis,
    Rollout,
    Stage,
    StateTrace,
    TraceStage,
    Usage,
    UserTruth,
)
from feedback.scores import (
    memory_score,
    score,
    scores_by_period,
    scores_by_user,
    state_table,
    table,
    tokens_per_answer,
)

LOST = (StateTrace("s", TraceStage.UNUSED), StateTrace("t", TraceStage.LOST))
FOUND = (
    Diagnosis("b", 0, 0, 4, Stage.RIGHT),
    Diagnosis("a", 1, 0, 4, Stage.RIGHT, lucky=True, probe_format_errors=1),
    Diagnosis("a", 0, 0, 4, Stage.WRITE, failed_states=("t",), unknown_probes=1, trace=LOST),
    Diagnosis("b", 1, 0, 4, Stage.FORMAT, failed_states=("s", "t")),
    Diagnosis("b", 0, 1, 2, Stage.READ, failed_states=("s",)),
)
BOUNDS = {("a", 0, 0): 1.0, ("a", 1, 0): 1.0, ("b", 0, 0): 1.0, ("b", 0, 1): 0.0, ("b", 1, 0): 1.0}


def truth(user):
    return UserTruth(user, {}, (), (), ("q", "r"), ((), ()), (("s", "t"), ("s",)), True)


def test_pooled_scores():
    s = score(FOUND, BOUNDS)
    assert (s.n, s.accuracy, s.lucky) == (5, 0.4, 0.2)
    assert (s.write, s.read, s.utilization, s.format) == (0.2, 0.2, 0.0, 0.2)
    assert s.random == pytest.approx((4 / 4 + 1 / 2) / 5)
    assert s.upper == 0.8
    assert s.memory == pytest.approx((0.4 - 0.3) / (0.8 - 0.3))
    assert (s.probe_format_errors, s.unknown_probes, s.traced) == (1, 1, 1)
    assert list(s.trace) == list(TraceStage)
    assert s.trace[TraceStage.LOST] == sum(s.trace.values()) == 0.2


def test_without_bounds_or_trace():
    s = score(FOUND[:2])
    assert (s.upper, s.memory, s.traced, s.trace) == (None, None, 0, {})


def test_stages_are_undefined_where_probes_were_not_asked():
    unprobed = Diagnosis("a", 0, 0, 4, Stage.UTILIZATION, failed_states=("s",), probed=False)
    s = score([*FOUND, unprobed], BOUNDS)
    assert (s.write, s.read, s.utilization, s.lucky) == (None, None, None, None)
    assert (s.accuracy, s.format) == (pytest.approx(2 / 6), pytest.approx(1 / 6))
    frame = state_table([unprobed], {"a": truth("a")})
    assert (frame.loc["s", "blamed"], frame.loc["s", "utilization"]) == (0, 0.0)


@pytest.mark.parametrize(
    ("upper", "expected"), [(None, None), (0.25, None), (0.2, None), (0.75, -0.5), (0.26, -25)]
)
def test_memory_score_is_undefined_or_not_clipped(upper, expected):
    found = memory_score(0.0, 0.25, upper)
    assert found == (None if expected is None else pytest.approx(expected))


def test_what_cannot_be_scored():
    with pytest.raises(ValueError, match="no answers"):
        score([])
    with pytest.raises(ValueError, match="no upper bound"):
        score(FOUND, {})
    with pytest.raises(ValueError, match="no answers"):
        tokens_per_answer([])


def test_tables():
    by_user = scores_by_user(FOUND, BOUNDS)
    assert list(by_user) == ["a", "b"]
    assert [s.n for s in by_user.values()] == [2, 3]
    by_period = scores_by_period(FOUND, BOUNDS)
    assert list(by_period) == [0, 1]
    frame = table(by_period, "period")
    assert frame.index.name == "period"
    assert frame.loc[0, "n"] == 3
    assert frame.loc[0, "lost"] == pytest.approx(1 / 3)
    assert frame.loc[1, "lost"] == 0
    undefined = table(scores_by_user(FOUND[:2]), "user")
    assert math.isnan(undefined.loc["a", "memory"])
    assert "lost" not in undefined.columns


def test_state_table_names_the_worst_first():
    frame = state_table(FOUND, {user: truth(user) for user in ("a", "b")})
    assert list(frame.index) == ["s", "t"]
    assert list(frame["n"]) == [5, 4]
    assert list(frame["blamed"]) == [2, 2]
    assert list(frame["accuracy"]) == [0.4, 0.5]
    assert list(frame["write"]) == [0.0, 0.25]
    assert list(frame["read"]) == [0.2, 0.0]
    assert list(frame["format"]) == [0.2, 0.25]
    assert list(frame["unused"]) == [0.2, 0.0]
    assert list(frame["lost"]) == [0.0, 0.25]
    assert state_table([], {}).empty


def test_tokens_per_answer_counts_reply_write_and_answer():
    roles = ("answer", "bound", "probe", "reply", "user", "write")
    usage = tuple((role, Usage(1, 10**i, 2 * 10**i)) for i, role in enumerate(roles))
    answers = (Answer(0, 0, 4, 0, 0, ()), Answer(0, 1, 4, 0, 0, ()))
    rollout = Rollout("p", "u", (), (), (), answers, usage)
    assert tokens_per_answer([rollout]) == 3 * (1 + 1000 + 100000) / 2
    assert tokens_per_answer([rollout, rollout]) == tokens_per_answer([rollout])
