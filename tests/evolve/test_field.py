"""Who is scored where: parts never share a user, or a period where the split is by time."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.field import (
    FEWEST_PERIODS,
    LOOK_EVERY,
    MINIBATCH,
    possible_splits,
    split_by_periods,
    split_by_users,
)
from evolve.gym.rollout import Span
from feedback.records import Diagnosis, Stage
from policies.errors import ConfigError


def diagnoses(users, right=lambda user, period, question: True):
    return [
        Diagnosis(
            user.id, period, question, 2,
            Stage.RIGHT if right(user.id, period, question) else Stage.WRITE,
        )
        for user in users
        for period in range(len(user.periods))
        for question in range(len(user.questions))
    ]  # fmt: skip


@given(st.integers(3, 80), st.integers(0, 50))
def test_by_users_the_parts_are_disjoint_and_whole(people, count, seed):
    users = people(count, periods=1, questions=1)
    field = split_by_users(users, seed)
    train = [user for block in field.minibatches for user in block]
    parts = [user.id for part in (train, field.gate, field.test) for user in part]
    assert sorted(parts) == [user.id for user in users]
    sizes = [len(train), len(field.gate), len(field.test)]
    assert max(sizes) - min(sizes) <= 1
    lengths = [len(block) for block in field.minibatches]
    assert len(lengths) == 1 or all(MINIBATCH // 2 <= n < MINIBATCH * 3 / 2 for n in lengths)


@given(st.randoms(), st.integers(0, 5))
def test_by_users_the_order_in_the_file_changes_nothing(people, random, seed):
    users = list(people(20, periods=1, questions=1))
    field = split_by_users(tuple(users), seed)
    random.shuffle(users)
    assert split_by_users(tuple(users), seed) == field


def test_by_users_the_seed_changes_the_parts(people):
    gates = [split_by_users(people(24), seed).gate for seed in range(5)]
    assert len({tuple(user.id for user in gate) for gate in gates}) == 5


def test_minibatches_come_in_turn(people):
    field = split_by_users(people(54), 0)
    assert [len(block) for block in field.minibatches] == [6, 6, 6]
    assert [field.minibatch(n) for n in range(4)] == [*field.minibatches, field.minibatches[0]]


def test_by_users_a_rollout_is_whole_and_all_of_it_counts(people):
    users = people(12, periods=2, questions=3)
    field = split_by_users(users, 0)
    found = diagnoses(users[:2], lambda user, period, question: user == "u000" and period == 1)
    assert field.span(users[0]) == Span()
    assert field.select(found, "gate") == found
    assert field.accuracies(found, "test") == {"u000": 0.5, "u001": 0.0}
    assert (field.gate_clusters, field.answers_per_cluster) == (4, 6)
    assert field.look_every == LOOK_EVERY


@given(st.lists(st.integers(FEWEST_PERIODS, 20), min_size=1, max_size=4), st.integers(1, 5))
def test_by_time_every_answer_counts_in_one_part_and_later_parts_are_later(
    people, periods, questions
):
    users = tuple(
        dataclasses.replace(people(1, number, questions)[0], id=str(place))
        for place, number in enumerate(periods)
    )
    field = split_by_periods(users)
    found = diagnoses(users)
    parts = [field.select(found, part) for part in ("train", "gate", "test")]
    assert sorted(repr(d) for part in parts for d in part) == sorted(map(repr, found))
    for user in users:
        train, gate, test = ([d.period for d in part if d.user == user.id] for part in parts)
        assert max(train) < min(gate) <= max(gate) < min(test)
        assert len(train) == len(user.periods) // 2 * questions
        assert field.span(user) == Span(periods=min(test))
    clusters = {field.cluster_of(d) for d in parts[1]}
    assert len(clusters) == field.gate_clusters == len(users) * questions
    fewest = min(sum(field.cluster_of(d) == cluster for d in parts[1]) for cluster in clusters)
    assert field.answers_per_cluster == fewest


def test_by_time_all_users_are_in_every_part_and_looks_take_whole_users(people):
    users = people(3, periods=8, questions=10)
    field = split_by_periods(users)
    assert (field.minibatch(0), field.minibatch(1)) == (users, users)
    assert (field.gate, field.test) == (users, users)
    assert field.look_every == 10
    assert split_by_periods(people(3, 8, 1)).look_every == LOOK_EVERY


def test_by_time_clusters_are_questions_of_users(people):
    users = people(2, periods=4, questions=2)
    found = diagnoses(users, lambda user, period, question: question == 0)
    assert split_by_periods(users).accuracies(found, "gate") == {
        "u000/0": 1.0,
        "u000/1": 0.0,
        "u001/0": 1.0,
        "u001/1": 0.0,
    }


def test_by_time_short_lives_are_refused(people):
    with pytest.raises(ValueError, match="u000 has 3 periods"):
        split_by_periods(people(1, periods=3))


@pytest.mark.parametrize(
    ("count", "periods", "holdout", "splits"),
    [
        (3, 4, "auto", ["users", "periods"]),
        (3, 4, "users", ["users"]),
        (3, 4, "periods", ["periods"]),
        (3, 3, "auto", ["users"]),
        (2, 4, "auto", ["periods"]),
    ],
)
def test_splits_that_an_environment_allows(people, count, periods, holdout, splits):
    fields = possible_splits(people(count, periods), holdout, 0)
    assert [field.holdout for field in fields] == splits


@pytest.mark.parametrize(
    ("count", "periods", "holdout"), [(2, 4, "users"), (3, 3, "periods"), (2, 3, "auto")]
)
def test_no_split_at_all(people, count, periods, holdout):
    with pytest.raises(ConfigError, match=f"{count} and u000 has {periods} periods .*; add users"):
        possible_splits(people(count, periods), holdout, 0)
