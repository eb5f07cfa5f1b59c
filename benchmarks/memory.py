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

    def kept(self, one: Floats, other: Floats) -> Interval:
        """How much more of its first period's memory score the first policy keeps than the second.

        What a policy keeps is the mean of its later periods' memory scores as a share of its first
        period's; this is the difference of the two shares, paired by user.
        """
        rows = np.concatenate([one, other, self.guess, self.upper], axis=1)
        periods = self.guess.shape[1]

        def statistic(sums: Floats) -> Floats:
            ours, theirs, guess, upper = (
                sums[..., at * periods : (at + 1) * periods] for at in range(4)
            )
            return share_kept((ours - guess) / (upper - guess)) - share_kept(
                (theirs - guess) / (upper - guess)
            )

        return self._interval(rows, statistic)

    def _interval(self, rows: Floats, statistic: Statistic) -> Interval:
        return cluster_interval(rows.tolist(), statistic, derive("benchmarks", self.seed))


def share_kept(scores: Floats) -> Floats:
    """Mean of the later periods' scores as a share of the first's, along the last axis."""
    kept: Floats = scores[..., 1:].mean(axis=-1) / scores[..., 0]
    return kept


def ground_of(users: Sequence[User], bounds: Bounds, seed: int) -> Ground:
    """What all policies on these users share."""
    periods = range(len(users[0].periods))
    guess = [[sum(1 / len(q.choices) for q in u.questions)] * len(periods) for u in users]
    upper = [
        [sum(bounds[u.id, p, q] for q in range(len(u.questions))) for p in periods] for u in users
    ]
    return Ground(tuple(u.id for u in users), np.array(guess), np.array(upper), seed)
