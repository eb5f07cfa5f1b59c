"""The definitions of the stages, by cases and by properties over random rollouts."""

import dataclasses
import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedback.diagnosis import StateCounts, count_states, diagnose
from feedback.records import (
    Answer,
    Rollout,
    Stage,
    StateProbe,
    StateTrace,
    TraceStage,
    UserTruth,
)
from feedback.scores import score

VALUES = ("x", "y", "z")


def truth_of(states, required=(("s", "t"),)) -> UserTruth:
    """A user whose states take the given values, period by period."""
    return UserTruth(
        user="u",
        schema=dict.fromkeys(states[0], VALUES),
        states=tuple(states),
        updated=tuple(
            frozenset(n for n in now if before is not None and before[n] != now[n])
            for before, now in zip([None, *states], states, strict=False)
        ),
        queries=tuple(f"question {i}" for i in range(len(required))),
        choices=(("these", "those"),) * len(required),
        required=required,
        traceable=False,
    )


def rollout_of(truth, replies, **other) -> Rollout:
    """A rollout whose replies are (chosen, probed values or None) by (period, question)."""
    answers = []
    for (period, question), (chosen, values) in sorted(replies.items()):
        probes = ()
        if values is not None:
            probes = tuple(
                StateProbe(name, truth.states[period][name], value, format_error=value is None)
                for name, value in zip(truth.required[question], values, strict=True)
            )
        answers.append(Answer(period, question, 4, 0, chosen, probes))
    return Rollout("p", "u", (), (), (), tuple(answers), (), **other)


# the state s changes at period 1, t never; (chosen, probe) at periods 0 and 1 -> period 1's stage
STATES = ({"s": "x", "t": "x"}, {"s": "y", "t": "x"})
CASES = [
    ("right", (0, "xx"), (0, "yx"), Stage.RIGHT, (), False),
    ("lucky", (0, "xx"), (0, "xx"), Stage.RIGHT, (), True),
    ("utilization", (0, "xx"), (1, "yx"), Stage.UTILIZATION, ("s", "t"), False),
    ("format, probes right", (0, "xx"), (None, "yx"), Stage.FORMAT, ("s", "t"), False),
    ("format, probes wrong", (0, "xx"), (None, "xx"), Stage.FORMAT, ("s", "t"), False),
    ("write, of this period", (0, "xx"), (1, "xx"), Stage.WRITE, ("s",), False),
    ("write, of period 0", (0, "xy"), (1, "yz"), Stage.WRITE, ("t",), False),
    ("read", (0, "xx"), (1, "yz"), Stage.READ, ("t",), False),
    ("write before read", (0, "xx"), (1, "zz"), Stage.WRITE, ("s",), False),
    ("unparsable", (0, "xx"), (1, [None, None]), Stage.WRITE, ("s",), False),
]


@pytest.mark.parametrize(
    ("first", "second", "stage", "failed", "lucky"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_stages(first, second, stage, failed, lucky):
    truth = truth_of(STATES)
    _, found = diagnose(rollout_of(truth, {(0, 0): first, (1, 0): second}), truth)
    assert (found.stage, found.failed_states, found.lucky) == (stage, failed, lucky)
    assert (found.user, found.period, found.question, found.choices) == ("u", 1, 0, 4)
    assert found.probed
    assert found.probe_format_errors == list(second[1]).count(None)


def test_write_period_is_that_of_the_latest_update():
    truth = truth_of(({"s": "x"}, {"s": "y"}, {"s": "y"}, {"s": "x"}, {"s": "x"}), (("s",),))
    replies = {(0, 0): (0, "x"), (1, 0): (0, "z"), (2, 0): (1, "z")}
    replies |= {(3, 0): (0, "x"), (4, 0): (1, "z")}
    found = diagnose(rollout_of(truth, replies), truth)
    assert [d.stage for d in found] == ["right", "right", "write", "right", "read"]


def test_the_same_question_is_looked_up():
    truth = truth_of(({"s": "x"}, {"s": "x"}), (("s",), ("s",)))
    replies = {(0, 0): (0, "x"), (0, 1): (0, "y"), (1, 0): (1, "z"), (1, 1): (1, "z")}
    found = diagnose(rollout_of(truth, replies), truth)
    assert [d.stage for d in found[2:]] == ["read", "write"]


def test_a_state_required_twice_is_blamed_once_and_counted_twice():
    truth = truth_of(({"s": "x"},), (("s", "s"),))
    rollout = rollout_of(truth, {(0, 0): (1, [None, None])})
    (found,) = diagnose(rollout, truth)
    assert (found.stage, found.failed_states, found.probe_format_errors) == ("write", ("s",), 2)
    assert count_states(rollout, truth) == StateCounts(((2,),), ((0,),), ((0,),))


def test_state_counts():
    truth = truth_of(STATES)
    rollout = rollout_of(truth, {(0, 0): (0, "xx"), (1, 0): (0, "zz")})
    assert count_states(rollout, truth) == StateCounts(((0,), (1,)), ((0,), (1,)), ((1,), (0,)))
    with pytest.raises(ValueError, match="1 probes are not 2 periods"):
        count_states(rollout_of(truth, {(0, 0): (0, "xx"), (1, 0): (0, None)}), truth)


def test_without_probes_only_right_and_format_are_known():
    truth = truth_of(STATES)
    replies = {(0, 0): (0, None), (1, 0): (1, None)}
    right, wrong = diagnose(rollout_of(truth, replies), truth)
    assert (right.stage, right.lucky, right.probed) == (Stage.RIGHT, False, False)
    assert not wrong.probed
    (unread,) = diagnose(rollout_of(truth, {(0, 0): (None, None)}), truth)
    assert unread.stage is Stage.FORMAT


def test_what_has_no_diagnosis():
    truth = truth_of(STATES)
    with pytest.raises(ValueError, match="failed rollout"):
        diagnose(rollout_of(truth, {}, failure="too long", failure_kind="policy"), truth)
    with pytest.raises(ValueError, match="truth of v"):
        diagnose(rollout_of(truth, {}), dataclasses.replace(truth, user="v"))
    with pytest.raises(ValueError, match="needs its probe at period 0"):
        diagnose(rollout_of(truth, {(1, 0): (1, "yz")}), truth)
    other = truth_of(STATES, (("t", "s"),))
    with pytest.raises(ValueError, match="requires other states"):
        diagnose(rollout_of(truth, {(0, 0): (1, "xx")}), other)


def test_wrong_answers_are_traced_where_the_environment_allows(monkeypatch):
    calls = []
    fake = types.ModuleType("feedback.trace")
    fake.index_rollout = lambda rollout: ("index of", rollout.policy)
    fake.trace_answer = lambda answer, index, truth: (
        calls.append((answer.period, index, truth.user)) or (StateTrace("s", TraceStage.LOST),)
    )
    monkeypatch.setitem(sys.modules, "feedback.trace", fake)
    truth = truth_of(STATES)
    rollout = rollout_of(truth, {(0, 0): (0, "xx"), (1, 0): (1, "xx")})
    assert [d.earliest for d in diagnose(rollout, truth)] == [None, None]
    traced = diagnose(rollout, dataclasses.replace(truth, traceable=True))
    assert [d.earliest for d in traced] == [None, TraceStage.LOST]
    assert calls == [(1, ("index of", "p"), "u")]


@st.composite
def rollouts(draw):
    periods, questions = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    value = st.sampled_from(VALUES)
    states = draw(
        st.lists(
            st.fixed_dictionaries({"s": value, "t": value, "v": value}),
            min_size=periods,
            max_size=periods,
        )
    )
    name = st.sampled_from(["s", "t", "v"])
    required = tuple(tuple(draw(st.lists(name, min_size=1, max_size=3))) for _ in range(questions))
    truth = truth_of(tuple(states), required)
    replies = {
        (p, q): (
            draw(st.none() | st.integers(0, 3)),
            [draw(st.none() | value) for _ in required[q]],
        )
        for p in range(periods)
        for q in range(questions)
    }
    return rollout_of(truth, replies), truth


@given(rollouts())
def test_the_stages_add_up_for_every_run_period_and_user(case):
    rollout, truth = case
    found = diagnose(rollout, truth)
    assert len(found) == len(rollout.answers)
    for some in [found, *([d for d in found if d.period == p] for p in range(len(truth.states)))]:
        s = score(some)
        assert s.accuracy + s.write + s.read + s.utilization + s.format == pytest.approx(1)
        assert 0 <= s.lucky <= s.accuracy


@given(rollouts())
def test_stages_and_state_counts_agree(case):
    rollout, truth = case
    counts = count_states(rollout, truth)
    for answer, found in zip(rollout.answers, diagnose(rollout, truth), strict=True):
        p, q = answer.period, answer.question
        wrong = counts.write_failure[p][q] + counts.read_failure[p][q]
        assert wrong == sum(not probe.right for probe in answer.probes)
        assert counts.memory_success[p][q] == (wrong == 0)
        assert found.lucky == (answer.right and wrong > 0)
        if found.stage is Stage.WRITE:
            assert counts.write_failure[p][q] >= len(found.failed_states) > 0
        if found.stage is Stage.READ:
            assert counts.write_failure[p][q] == 0 < counts.read_failure[p][q]
        if found.stage is Stage.UTILIZATION:
            assert wrong == 0
        assert (found.failed_states == ()) == answer.right
