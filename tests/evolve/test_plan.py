"""What a budget buys; the smallest budget that is named is the smallest that does."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.field import possible_splits, split_by_periods, split_by_users
from evolve.gym.rollout import Span, World, share
from evolve.lm.offline import OfflineLM
from evolve.plan import FEWEST_TEST_USERS, make_plan, smallest_budget
from policies.errors import BudgetTooSmallError, ConfigError

WORLD = World(OfflineLM(), OfflineLM(), 0)


def smallest(fields, native=False):
    with pytest.raises(BudgetTooSmallError) as error:
        make_plan(1, fields, WORLD, native=native)
    return int(re.search(r"give --budget (\d+) or more", str(error.value))[1])


def splits(people, count, holdout):
    return possible_splits(people(count, periods=8, questions=8), holdout, 0)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    ("count", "holdout"),
    [(12, "users"), (24, "users"), (72, "users"), (1, "periods"), (3, "periods"), (3, "auto"),
     (24, "auto")],
)  # fmt: skip
def test_the_smallest_budget_is_the_smallest_and_all_above_will_do(people, count, holdout, native):
    fields = splits(people, count, holdout)
    least = smallest(fields, native)
    with pytest.raises(BudgetTooSmallError, match=f"{least - 1} rollouts do not; .*{least} or"):
        make_plan(least - 1, fields, WORLD, native=native)
    for budget in range(least, least + 40):
        make_plan(budget, fields, WORLD, native=native)


@settings(max_examples=60)
@given(
    st.integers(4, 40), st.integers(0, 300), st.sampled_from(["users", "periods"]), st.booleans()
)
def test_a_third_at_most_is_set_aside_and_a_proposal_is_always_paid(
    people, count, more, holdout, native
):
    users = people(count, periods=8, questions=8)
    field = split_by_users(users, 0) if holdout == "users" else split_by_periods(users)
    try:
        _, plan = make_plan(smallest([field], native) + more, [field], WORLD, native=native)
    except ConfigError:
        return  # too few gate users
    alone = share(users[0], WORLD, Span(answers_only=True))
    assert plan.set_aside == len(plan.test) * ((2 if native else 3) + alone)
    assert plan.set_aside <= Fraction(plan.budget, 3)
    assert plan.test == field.test[: len(plan.test)]
    assert len(plan.test) >= min(FEWEST_TEST_USERS, len(field.test))
    minibatch = sum(share(user, WORLD, field.span(user)) for user in field.minibatch(0))
    gate = len(field.gate) if holdout == "users" else 0
    assert plan.budget - plan.set_aside >= 2 * (minibatch + gate)
    assert plan.candidates >= 1


@pytest.mark.parametrize("holdout", ["users", "periods"])
def test_rollouts_that_are_probed_both_ways_are_allowed_for(people, holdout):
    """With the smallest budget, seed and candidate are scored on minibatch and gate."""
    field = splits(people, 24 if holdout == "users" else 3, holdout)[0]
    needed = [
        smallest_budget([field], WORLD, native=False, measured=count) for count in (0, 4, 8, 80)
    ]
    assert needed == sorted(needed)
    assert (needed[-1] > needed[0]) == (holdout == "users")  # else the report decides
    plans = [
        make_plan(n, [field], WORLD, native=False, measured=80)[1]
        for n in range(needed[-1], needed[-1] + 9)
    ]
    users = (*field.minibatch(0), *(field.gate if holdout == "users" else ()))
    both = [replace(field.span(user), probes="both") for user in users]
    single = sum(share(user, WORLD, field.span(user)) for user in users)
    more = max(
        share(user, WORLD, span) - share(user, WORLD, field.span(user))
        for user, span in zip(users, both, strict=True)
    )
    assert all(plan.budget - plan.set_aside >= 2 * single + 80 * more for plan in plans)


def test_a_larger_budget_buys_more(people):
    plans = [
        make_plan(budget, splits(people, 72, "users"), WORLD, native=False)[1]
        for budget in (100, 200, 400, 800)
    ]
    assert [len(plan.test) for plan in plans] == [9, 19, 24, 24]
    assert [plan.candidates for plan in plans] == [2, 4, 9, 21]


def test_what_is_said_of_it(people):
    _, plan = make_plan(60, splits(people, 24, "users"), WORLD, native=False)
    field, by_time = make_plan(40, splits(people, 3, "auto"), WORLD, native=False)
    assert plan.describe(splits(people, 24, "users")[0]) == (
        "60 rollouts buy about 1 candidate at the gate (scored on 8 train users first, then up to "
        "8 gate users) and more that fail before it; 17.1 are kept for 5 test users"
    )
    assert by_time.describe(field) == (
        "40 rollouts buy about 5 candidates at the gate (scored on 3 users first, then by their "
        "later periods) and more that fail before it; 10.3 are kept for the last periods"
    )


def test_users_are_split_by_time_where_their_gate_could_never_pass(people):
    assert make_plan(60, splits(people, 24, "auto"), WORLD, native=False)[0].holdout == "users"
    assert make_plan(60, splits(people, 9, "auto"), WORLD, native=False)[0].holdout == "periods"


def test_a_budget_too_small_for_users_is_not_spent_on_a_weaker_split(people):
    fields = splits(people, 72, "auto")
    assert smallest(fields) == smallest(fields[:1])


@pytest.mark.parametrize(("count", "questions", "holdout"), [(9, 8, "users"), (1, 3, "auto")])
def test_a_gate_that_nothing_can_pass(people, count, questions, holdout):
    fields = possible_splits(people(count, periods=4, questions=questions), holdout, 0)
    with pytest.raises(ConfigError, match=r"of this environment's 3 no outcome could pass; use"):
        make_plan(300, fields, WORLD, native=False)
