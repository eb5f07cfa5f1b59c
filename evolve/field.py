"""Who is scored where: train, gate and test by user, or by time where users are few."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from evolve.gym.rollout import Span
from evolve.gym.users import User, split_users
from evolve.seeding import derive
from feedback.records import Diagnosis, Stage
from policies.errors import ConfigError

Part = Literal["train", "gate", "test"]
MINIBATCH = 6
LOOK_EVERY = 4
FEWEST_PERIODS = 4  # two for feedback, one for the gate, one for the report


@dataclass(frozen=True, slots=True)
class Field:
    """The split of one run.

    Attributes:
        holdout: ``users`` (thirds) or ``periods`` (half for feedback, a quarter for the gate, the
            rest for the report).
        minibatches: Blocks of train users; the next block is used with every new parent.
        gate: Gate users in the seeded order in which they are judged.
        test: Test users in the seeded order in which they are kept where the budget is small.
        ends: Under a time split, user id to (first gate period, first test period).
    """

    holdout: Literal["users", "periods"]
    minibatches: tuple[tuple[User, ...], ...]
    gate: tuple[User, ...]
    test: tuple[User, ...]
    ends: Mapping[str, tuple[int, int]]

    @property
    def train(self) -> tuple[User, ...]:
        """All train users, block after block."""
        return tuple(user for block in self.minibatches for user in block)

    def minibatch(self, number: int) -> tuple[User, ...]:
        """The block for the ``number``-th parent, in turn."""
        return self.minibatches[number % len(self.minibatches)]

    def span(self, user: User) -> Span:
        """What a candidate's rollout needs: under a time split nothing after the gate's periods."""
        return Span(periods=self.ends[user.id][1]) if self.holdout == "periods" else Span()

    def select(self, diagnoses: Iterable[Diagnosis], part: Part) -> list[Diagnosis]:
        """The diagnoses that count for a part; by user that is all of a rollout."""
        if self.holdout == "users":
            return list(diagnoses)
        return [d for d in diagnoses if self._part(d) == part]

    def _part(self, diagnosis: Diagnosis) -> Part:
        gate, test = self.ends[diagnosis.user]
        if diagnosis.period < gate:
            return "train"
        return "gate" if diagnosis.period < test else "test"

    def cluster_of(self, diagnosis: Diagnosis) -> str:
        """What was drawn independently: the user, or under a time split its question."""
        if self.holdout == "users":
            return diagnosis.user
        return f"{diagnosis.user}/{diagnosis.question}"

    def accuracies(self, diagnoses: Iterable[Diagnosis], part: Part) -> dict[str, float]:
        """Cluster to its accuracy over a part's answers, in order of first appearance."""
        right: dict[str, list[bool]] = {}
        for diagnosis in self.select(diagnoses, part):
            right.setdefault(self.cluster_of(diagnosis), []).append(diagnosis.stage is Stage.RIGHT)
        return {cluster: sum(marks) / len(marks) for cluster, marks in right.items()}

    @property
    def answers_per_cluster(self) -> int:
        """The fewest answers of a gate cluster."""
        if self.holdout == "users":
            return min(sum(_asked(user, range(len(user.periods)))) for user in self.gate)
        return min(count for user in self.gate for count in self._gate_answers(user))

    @property
    def look_every(self) -> int:
        """Gate clusters between looks; under a time split whole users, whose questions belong."""
        if self.holdout == "users":
            return LOOK_EVERY
        return max(LOOK_EVERY, *(len(self._gate_answers(user)) for user in self.gate))

    @property
    def gate_clusters(self) -> int:
        """Number of clusters of the gate."""
        if self.holdout == "users":
            return len(self.gate)
        return sum(len(self._gate_answers(user)) for user in self.gate)

    def _gate_answers(self, user: User) -> list[int]:
        """Answers at the gate to each question of a user that is asked there; a time split."""
        gate, test = self.ends[user.id]
        return [count for count in _asked(user, range(gate, test)) if count]


def possible_splits(
    users: tuple[User, ...], holdout: Literal["auto", "users", "periods"], seed: int
) -> list[Field]:
    """The splits that an environment allows of those asked for, that by user first.

    Raises:
        ConfigError: It allows none.
    """
    fields = []
    if holdout != "periods" and len(users) >= 3:
        fields.append(split_by_users(users, seed))
    shortest = min(users, key=lambda user: len(user.periods))
    if holdout != "users" and len(shortest.periods) >= FEWEST_PERIODS:
        fields.append(split_by_periods(users))
    if fields:
        return fields
    raise ConfigError(
        f"A split by users needs at least 3 of them, a split by time {FEWEST_PERIODS} periods of "
        f"each, but with --holdout {holdout} the users are {len(users)} and {shortest.id} has "
        f"{len(shortest.periods)} periods (of chats: days of probes); add users or periods"
        f"{'' if holdout == 'auto' else ', or try --holdout auto'}."
    )


def split_by_users(users: tuple[User, ...], seed: int) -> Field:
    """Thirds: train, gate, test; each in a seeded order."""
    split = split_users(users, seed)
    train = _shuffled(split.train, seed, "train")
    blocks = [train[i : i + MINIBATCH] for i in range(0, len(train), MINIBATCH)]
    if len(blocks) > 1 and len(blocks[-1]) < MINIBATCH // 2:
        blocks[-2:] = [blocks[-2] + blocks[-1]]
    gate, test = _shuffled(split.gate, seed, "gate"), _shuffled(split.test, seed, "test")
    return Field("users", tuple(blocks), gate, test, {})


def split_by_periods(users: tuple[User, ...]) -> Field:
    """Every user in every part: the first half, the next quarter and the rest of its periods.

    Raises:
        ValueError: A user has fewer than ``FEWEST_PERIODS``.
    """
    ends = {}
    for user in users:
        periods = len(user.periods)
        if periods < FEWEST_PERIODS:
            raise ValueError(f"user {user.id} has {periods} periods, not {FEWEST_PERIODS} or more")
        ends[user.id] = (periods // 2, periods // 2 + max(1, periods // 4))
    return Field("periods", (users,), users, users, ends)


def _asked(user: User, periods: range) -> list[int]:
    """How often each question is asked in some periods."""
    asked = Counter(number for period in periods for number in user.asked_in(period))
    return [asked[number] for number in range(len(user.questions))]


def _shuffled(users: tuple[User, ...], seed: int, part: str) -> tuple[User, ...]:
    ordered = sorted(users, key=lambda user: user.id)
    random.Random(derive(seed, "order", part)).shuffle(ordered)
    return tuple(ordered)
