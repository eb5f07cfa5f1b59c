"""Memory scores over users: pooled, paired, fading."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.memory import Ground, share_kept
from feedback.records import Diagnosis, Stage

USERS, PERIODS = 12, 4


@pytest.fixture
def ground() -> Ground:
    shape = (USERS, PERIODS)
    names = tuple(f"u{n}" for n in range(USERS))
    return Ground(names, np.full(shape, 2.0), np.full(shape, 8.0), seed=1)


def test_the_score_is_pooled_over_answers(ground: Ground) -> None:
    right = np.full((USERS, PERIODS), 5.0)
    assert ground.memory(right).mean == pytest.approx(0.5)
    assert ground.by_period(right) == pytest.approx([0.5] * PERIODS)
    right[0] = 8.0
    assert ground.memory(right).mean == pytest.approx((11 * 0.5 + 1) / 12)


def test_differences_are_paired(ground: Ground) -> None:
    worse = np.arange(USERS)[:, None] / 2.0 + np.ones((USERS, PERIODS))
    found = ground.difference(worse + 0.6, worse)
    assert found.mean == pytest.approx(0.1)
    assert found.high - found.low < 1e-9
    assert ground.memory(worse).high - ground.memory(worse).low > 0.2


def test_what_is_kept_is_a_share_of_the_first_period(ground: Ground) -> None:
    level = np.full((USERS, PERIODS), 5.0)
    falling = level - 0.6 * np.arange(PERIODS)
    more = ground.kept(level, falling).mean
    assert more > 0.1
    assert ground.kept(falling, level).mean == pytest.approx(-more)
    shares = share_kept(np.array([[4.0, 3.0, 1.0], [2.0, 2.0, 2.0]]))
    assert shares == pytest.approx([0.5, 1.0])


def test_right_answers_are_counted_where_they_belong(ground: Ground) -> None:
    stages = [(0, Stage.RIGHT), (0, Stage.RIGHT), (3, Stage.WRITE), (3, Stage.RIGHT)]
    counts = ground.right(Diagnosis("u2", period, 0, 4, stage) for period, stage in stages)
    assert counts[2].tolist() == [2, 0, 0, 1]
    assert counts.sum() == 3
