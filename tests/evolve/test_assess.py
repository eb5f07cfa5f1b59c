"""Policies scored on the same users, with failures left out on all sides."""

import pytest

from evolve.assess import assess
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.lm.models import ModelSpec
from evolve.workers import HereWorkers, WorldSpec
from feedback.records import Usage
from policies.errors import AllFailedError
from policies.policy import seed_policy

AWE, NATIVE, NONE = (seed_policy(name) for name in ("awe", "native", "none"))
SPEC = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 3, 1, 2)


@pytest.fixture
def workers(scripted_workers):
    made = scripted_workers()
    made.right[AWE.id] = lambda user, period, question: question < 3
    made.right[NATIVE.id] = lambda user, period, question: question < int(user[-1])
    return made


def test_one_policy(people, workers):
    found = assess([AWE], people(4), SPEC, workers)
    (one,) = found.assessed
    assert (found.users, found.memory, found.accuracy, found.failures) == (4, None, None, ())
    assert (one.total.n, one.total.accuracy, one.total.random, one.total.upper) == (
        64,
        0.75,
        0.5,
        1,
    )
    assert one.total.memory == 0.5
    assert [scores.n for scores in one.periods.values()] == [16] * 4
    assert one.tokens == 11 / 16  # the scripted usage of one user
    assert one.usage == (("answer", Usage(64, 40, 4)),)
    assert found.bound_usage == (("bound", Usage(4, 8, 12)),)


def test_the_first_is_compared_with_the_second(people, workers):
    found = assess([AWE, NATIVE], people(4), SPEC, workers)
    mine, other = (one.total for one in found.assessed)
    assert found.accuracy.mean == pytest.approx(mine.accuracy - other.accuracy)
    assert found.accuracy.mean == pytest.approx(0.75 - (0 + 1 + 2 + 3) / 16)
    assert found.memory.mean == pytest.approx(mine.memory - other.memory)
    assert found.memory.n == found.accuracy.n == 4


def test_the_memory_gain_over_baselines(people, workers):
    found = assess([AWE], people(4), SPEC, workers, ("none", "native"))
    assert (found.memory, len(found.assessed)) == (None, 1)  # nothing else was to be compared with
    assert [one.policy.architecture for one in found.beside] == ["none", "native"]
    assert found.gains.keys() == {"none", "native"}
    native = found.gains["native"].accuracy
    assert native.mean == pytest.approx(0.75 - (0 + 1 + 2 + 3) / 16)
    assert native.n == 4


def test_a_baseline_has_no_gain_over_itself(people, workers):
    found = assess([NATIVE, AWE], people(2), SPEC, workers, ("native",))
    assert (found.gains, found.beside) == ({}, ())


def test_equal_policies_are_lived_once(people, workers):
    found = assess([AWE, AWE], people(4), SPEC, workers)
    assert len(workers.ran) == 8
    assert (found.memory.mean, found.memory.low, found.memory.high) == (0, 0, 0)


def test_a_user_on_whom_one_failed_is_left_out_for_both(people, workers):
    workers.failures[NATIVE.id, "u001"] = ("outside", "the network is down")
    found = assess([AWE, NATIVE], people(4), SPEC, workers)
    assert found.users == 3
    assert [one.total.n for one in found.assessed] == [48, 48]
    assert found.assessed[1].total.accuracy == pytest.approx((0 + 2 + 3) / 12)
    assert [(r.user, r.failure) for r in found.failures] == [("u001", "the network is down")]
    assert "u001" not in workers.ran  # no upper bound is asked for a user who is left out


def test_all_failed(people, workers):
    for user, policy in (("u000", AWE), ("u001", NATIVE)):
        workers.failures[policy.id, user] = ("policy", "the context is too long")
    with pytest.raises(AllFailedError, match="the context is too long; mend it"):
        assess([AWE, NATIVE], people(2), SPEC, workers)


def test_none_is_scored_by_its_answers_alone():
    users = users_of(make_users(4, 2), "test")
    found = assess([NONE, AWE], users, SPEC, HereWorkers())
    none, awe = found.assessed
    assert (none.tokens, none.total.write) == (None, None)
    assert [role for role, _ in none.usage] == ["answer"]
    assert awe.total.write is not None
    assert awe.tokens > 100
    assert none.memory_tokens == (0,) * 8
    assert awe.memory_tokens[0] < awe.memory_tokens[7]
    assert awe.total.traced > 0
