"""The gate: its looks, its decisions, and what it must never accept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.optimize.gate import (
    RUN_LEVEL,
    Gate,
    candidate_level,
    could_pass,
    minibatch_passes,
)
from evolve.stats import guarded_t

GATE = Gate(level=0.0125, max_clusters=24, answers=64)
CLEAR = [0.09, 0.14, 0.06, 0.11, 0.08, 0.13, 0.1, 0.12] * 3

differences = st.lists(st.integers(-10, 14).map(lambda k: k / 64), max_size=24)


@pytest.mark.parametrize(
    ("clusters", "every", "sizes"),
    [
        (24, 4, (4, 8, 12, 16, 20, 24)),
        (25, 4, (4, 8, 12, 16, 20, 25)),
        (26, 4, (4, 8, 12, 16, 20, 24, 26)),
        (6, 4, (4, 6)),
        (5, 4, (5,)),
        (4, 4, (4,)),
        (30, 10, (10, 20, 30)),
    ],
)
def test_looks_come_regularly_and_spend_the_level(clusters, every, sizes) -> None:
    looks = Gate(0.02, clusters, 64, every).looks
    assert tuple(size for size, _ in looks) == sizes
    thresholds = [threshold for _, threshold in looks]
    assert sum(thresholds) == pytest.approx(0.02)
    assert min(thresholds) > 0


def test_later_looks_have_more_of_the_level() -> None:
    thresholds = [threshold for _, threshold in GATE.looks]
    assert thresholds == sorted(thresholds)
    assert thresholds[-1] > 0.5 * GATE.level


def test_missing_leads_from_look_to_look() -> None:
    assert [GATE.missing(n) for n in (0, 3, 4, 23, 24)] == [4, 1, 4, 1, 0]


def test_nothing_is_decided_before_the_first_look() -> None:
    decision = GATE.decide(CLEAR[:3])
    assert (decision.state, decision.look, decision.n, decision.p) == ("continue", 0, 3, None)
    assert GATE.decide([]).state == "continue"


def test_a_clear_gain_is_accepted_early() -> None:
    decision = GATE.decide(CLEAR)
    assert (decision.state, decision.look, decision.n) == ("accept", 2, 8)
    assert decision.p == guarded_t(CLEAR[:8], 64)
    assert decision.p <= decision.threshold == GATE.looks[1][1]
    assert decision.mean == pytest.approx(np.mean(CLEAR[:8]))


def test_a_clear_loss_is_stopped_at_the_first_look() -> None:
    decision = GATE.decide([-x for x in CLEAR])
    assert (decision.state, decision.n) == ("reject", 4)
    assert "chance" in decision.reason


def test_a_small_uneven_gain_is_rejected_at_the_last_look() -> None:
    decision = GATE.decide([0.16, -0.09, 0.08, 0.02, -0.03, 0.14] * 4)
    assert (decision.state, decision.n) == ("reject", 24)
    assert "above the last look's" in decision.reason


@given(differences)
def test_the_decision_depends_on_the_sequence_alone(found: list[float]) -> None:
    whole = GATE.decide(found)
    for n in range(len(found) + 1):
        part = GATE.decide(found[:n])
        if part.state != "continue":
            assert part == whole
            break
    else:
        assert whole.state == "continue"


@given(differences)
def test_all_clusters_decide(found: list[float]) -> None:
    full = (found * 24 or [0.0] * 24)[:24]
    assert GATE.decide(full).state != "continue"
    assert GATE.decide(found, exhausted=True).state != "continue"


@pytest.mark.parametrize("level", [0.0125, 0.025])
@pytest.mark.parametrize("clusters", [4, 5, 6])
def test_a_few_equal_steps_are_not_accepted(clusters: int, level: float) -> None:
    assert Gate(level, clusters, 64).decide([1 / 64] * clusters).state == "reject"


@given(st.integers(4, 30), st.floats(-0.5, 0.0), st.sampled_from([1, 64]))
def test_no_mean_at_or_below_zero_is_accepted(clusters: int, mean: float, answers: int) -> None:
    assert Gate(0.1, clusters, answers).decide([mean] * clusters).state == "reject"


def test_a_single_lucky_look_is_not_enough() -> None:
    assert GATE.decide([3 / 64] * 4).state == "continue"
    assert GATE.decide([1 / 64] * 8).state != "accept"
    one_answer = Gate(0.0125, 12, answers=1)
    assert one_answer.decide([1.0, 1.0, 1.0, 1.0]).state == "continue"


def test_exhausted_spends_what_is_left_on_what_there_is() -> None:
    near = [0.08, 0.02, 0.07, 0.01, 0.06, 0.03, 0.09]
    assert GATE.decide(near).state == "continue"
    decision = GATE.decide(near, exhausted=True)
    assert (decision.state, decision.look, decision.n) == ("accept", 2, 7)
    assert decision.threshold == pytest.approx(GATE.level - GATE.looks[0][1])


def test_exhausted_at_a_look_takes_it_again_with_the_rest() -> None:
    near = [0.08, 0.02, 0.07, 0.01, 0.06, 0.03, 0.09, 0.0]
    before = GATE.decide(near)
    after = GATE.decide(near, exhausted=True)
    assert (before.state, before.look) == ("continue", 2)
    assert (after.look, after.p) == (2, before.p)
    assert after.threshold == pytest.approx(GATE.level - GATE.looks[0][1])


def test_too_few_pairs_are_rejected() -> None:
    decision = GATE.decide([0.5, 0.5, 0.5], exhausted=True)
    assert (decision.state, decision.p) == ("reject", None)
    assert "only 3 clusters" in decision.reason
    assert GATE.decide([], exhausted=True).state == "reject"


def test_null_candidates_rarely_pass_and_gains_mostly_do() -> None:
    rng = np.random.default_rng(11)
    gate = Gate(0.025, 24, 64)

    def share(gain: float) -> float:
        draws = np.round((gain + 0.05 * rng.standard_normal((400, 24))) * 64) / 64
        return float(np.mean([gate.decide(row).state == "accept" for row in draws.tolist()]))

    assert share(0.0) <= 0.025
    assert share(0.05) >= 0.93


@pytest.mark.parametrize(
    ("level", "clusters", "answers", "every"),
    [(0.0, 24, 64, 4), (1.0, 24, 64, 4), (0.1, 3, 64, 4), (0.1, 24, 0, 4), (0.1, 24, 64, 1)],
)
def test_a_gate_refuses_what_makes_no_sense(level, clusters, answers, every) -> None:
    with pytest.raises(ValueError, match=r"level|at least"):
        Gate(level, clusters, answers, every)


def test_could_pass_needs_four_clusters_and_a_reachable_threshold() -> None:
    assert not any(could_pass(n, 0.0125, 64) for n in range(4))
    assert could_pass(4, 0.0125, 64)
    assert not could_pass(4, 0.0125, 1)
    assert could_pass(8, 0.0125, 1)
    assert not could_pass(4, 1e-9, 64)


@given(st.integers(4, 30), st.sampled_from([1, 2, 64]), st.sampled_from([0.1, 0.0125, 1e-4]))
def test_could_pass_is_what_the_gate_does(clusters: int, answers: int, level: float) -> None:
    perfect = Gate(level, clusters, answers).decide([1.0] * clusters)
    assert could_pass(clusters, level, answers) == (perfect.state == "accept")


def test_minibatch_needs_a_mean_above_zero() -> None:
    assert minibatch_passes([0.2, -0.1])
    assert not minibatch_passes([0.1 + 0.2 - 0.3, 0.0])  # 5.6e-17
    assert not minibatch_passes([0.1, -0.1])
    assert not minibatch_passes([])


def test_candidate_level_divides_the_level_of_the_run() -> None:
    assert candidate_level(8) * 8 == pytest.approx(RUN_LEVEL)
    with pytest.raises(ValueError, match="at least one candidate"):
        candidate_level(0)
