"""Memory scores of many users with intervals over users: levels, differences, fading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evolve.gym.users import User
from evolve.seeding import derive
from evolve.stats import Interval, cluster_interval
from feedback.records import Diagnosis, Stage
from feedback.scores import Bounds

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Ground:
    """What all policies on the same users share.

    Attributes:
        users: Ids in order; all have as many periods.
        guess: Right answers expected by guessing, shape (users, periods).
        upper: Right answers of the model that is told the true states, the same shape.
        seed: Of the resamples.
    """

    users: tuple[str, ...]
    guess: Floats
    upper: Floats
    seed: int

    def right(self, diagnoses: Iterable[Diagnosis]) -> Floats:
        """Right answers, shape (users, periods)."""
        place = {user: row for row, user in enumerate(self.users)}
        counts = np.zeros(self.guess.shape)
        for diagnosis in diagnoses:
            counts[place[diagnosis.user], diagnosis.period] += diagnosis.stage is Stage.RIGHT
        return counts

    def memory(self, right: Floats) -> Interval:
        """The pooled memory score."""
        rows = np.stack([right, self.guess, self.upper], axis=1).sum(axis=2)
        return self._interval(rows, lambda s: (s[..., 0] - s[..., 1]) / (s[..., 2] - s[..., 1]))

    def difference(self, better: Floats, worse: Floats) -> Interval:
        """The first pooled memory score less the second, paired by user."""
        rows = np.stack([better, worse, self.guess, self.upper], axis=1).sum(axis=2)
        return self._interval(rows, lambda s: (s[..., 0] - s[..., 1]) / (s[..., 3] - s[..., 2]))

    def by_period(self, right: Floats) -> Floats:
        """The memory score of each period, shape (periods,)."""
        guess = self.guess.sum(axis=0)
        scores: Floats = (right.sum(axis=0) - guess) / (self.upper.sum(axis=0) - guess)
        return scores

    def fading(self, slower: Floats, faster: Floats) -> Interval:
        """How much more memory score a period the second loses than the first.

        The slope of a policy is that of a line fitted to its memory scores by period; this is the
        first slope less the second, paired by user.
        """
        rows = np.concatenate([slower, faster, self.guess, self.upper], axis=1)
        periods = self.guess.shape[1]

        def statistic(sums: Floats) -> Floats:
            ours, theirs, guess, upper = (
                sums[..., at * periods : (at + 1) * periods] for at in range(4)
            )
            return slope((ours - guess) / (upper - guess)) - slope(
                (theirs - guess) / (upper - guess)
            )

        return self._interval(rows, statistic)

    def _interval(self, rows: Floats, statistic: Statistic) -> Interval:
        return cluster_interval(rows.tolist(), statistic, derive("benchmarks", self.seed))


def slope(scores: Floats) -> Floats:
    """Slope of the line fitted to scores by period, along the last axis."""
    centred = np.arange(scores.shape[-1]) - (scores.shape[-1] - 1) / 2
    fitted: Floats = scores @ centred / (centred @ centred)
    return fitted


def ground_of(users: Sequence[User], bounds: Bounds, seed: int) -> Ground:
    """What all policies on these users share."""
    periods = range(len(users[0].periods))
    guess = [[sum(1 / len(q.choices) for q in u.questions)] * len(periods) for u in users]
    upper = [
        [sum(bounds[u.id, p, q] for q in range(len(u.questions))) for p in periods] for u in users
    ]
    return Ground(tuple(u.id for u in users), np.array(guess), np.array(upper), seed)
