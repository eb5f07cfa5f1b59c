"""The screen: who is heard, who goes on, and when it is no longer trusted."""

import pytest

from evolve.evaluate import Job
from evolve.field import split_by_users
from evolve.optimize.constraints import NO_LIMITS, Constraints
from evolve.screening import CALIBRATION, HEARD_BY, PROPOSED, Heard, Screen
from policies.policy import seed_policy

SEED = seed_policy("awe")


def candidate(value):
    return SEED.derive(settings={"top_k": value})


def good_to(share):
    return lambda user, period, question: question < share


@pytest.fixture
def bench(people, scripted_workers, evaluator_on):
    """A screen, its evaluator and the minibatch on which the seed was scored."""
    workers = scripted_workers()
    workers.right = {SEED.id: good_to(2)}
    workers.right |= {candidate(value).id: good_to(value) for value in range(1, 9)}
    evaluator = evaluator_on(workers, 1000)
    field = split_by_users(people(24, periods=4, questions=8), 0)
    block = field.minibatch(0)
    evaluator.score([Job(SEED, user) for user in block])
    return Screen(evaluator, field), evaluator, block


def test_the_best_goes_on_and_while_it_is_not_calibrated_the_first_of_the_others(bench):
    screen, evaluator, block = bench
    before = evaluator.ledger.spent
    cost = screen.cost(block)
    policies = [candidate(value) for value in (3, 1, 6, 4, 2, 5)]
    assert screen.choose(policies, SEED, block, 2) == [policies[2], policies[0]]
    assert evaluator.ledger.spent - before == screen.spent == cost > 0
    assert screen.heard == PROPOSED == len(policies)
    verdict = screen.verdict(policies[3], SEED)
    assert (verdict.stage, verdict.accepted, verdict.heard_difference) == ("screen", False, 0.25)
    assert verdict.reason == "+0.2500 off-policy, and others promised more"
    assert verdict.tokens_per_answer == pytest.approx(11 / 32)


def test_as_many_as_go_on_are_not_heard(bench):
    screen, _, block = bench
    policies = [candidate(3), candidate(4)]
    assert screen.choose(policies, SEED, block, 2) == policies
    assert (screen.heard, screen.spent) == (0, 0)


def test_who_cannot_be_heard_comes_in_the_middle(bench):
    screen, _, block = bench
    other = SEED.derive({"reply_prompt": "Say hello.\n{{memories}}"})
    policies = [candidate(1), other, candidate(6)]
    heard = Heard({policies[0].id: 0.1, policies[2].id: 0.3}, {})
    assert heard.order(policies, NO_LIMITS) == [policies[2], other, policies[0]]
    assert screen.choose(policies, SEED, block, 3) == policies
    assert screen.choose(policies, SEED, block, 2) == [policies[2], policies[0]]
    assert screen.heard == 2
    for value in range(2, 2 + CALIBRATION):
        screen.choose([candidate(value), candidate(1), other], SEED, block, 2)
        screen.learn(candidate(value), value / 10)
    assert screen.calibrated
    assert screen.choose(policies, SEED, block, 2) == [policies[2], other]
    why = "cannot be heard off-policy, and others promised more"
    assert screen.verdict(other, SEED).reason == why


def test_what_promises_nothing_or_takes_too_many_tokens_does_not_go_on():
    policies = [candidate(value) for value in (1, 2, 3, 4)]
    differences = dict(zip((p.id for p in policies), (0.0, -0.1, 0.2, 0.1), strict=True))
    tokens = {policies[2].id: 120.0, policies[3].id: 80.0}
    heard = Heard(differences, tokens)
    assert heard.order(policies, NO_LIMITS) == [policies[2], policies[3]]
    assert heard.order(policies, Constraints(answer_tokens=100)) == [policies[3]]


def test_who_takes_too_many_tokens_is_told_so(people, scripted_workers, evaluator_on):
    workers = scripted_workers()
    workers.right = {candidate(value).id: good_to(4) for value in (1, 2, 3)}
    workers.tokens = {SEED.id: 32 * 50} | {candidate(v).id: 32 * 200 for v in (1, 2, 3)}
    evaluator = evaluator_on(workers, 1000)
    field = split_by_users(people(24, periods=4, questions=8), 0)
    block = field.minibatch(0)
    evaluator.score([Job(SEED, user) for user in block])
    screen = Screen(evaluator, field, Constraints(answer_tokens=100))
    policies = [candidate(value) for value in (1, 2, 3)]
    assert screen.choose(policies, SEED, block, 2) == [policies[0]]  # for calibration
    verdict = screen.verdict(policies[1], SEED)
    assert verdict.reason.endswith("but some 200 tokens per answer are over the limit of 100")


@pytest.mark.parametrize(("sign", "on"), [(1, True), (-1, False)])
def test_it_turns_itself_off_where_it_does_not_predict(bench, sign, on):
    screen, _, block = bench
    values = range(1, 1 + CALIBRATION)
    for value in values:
        assert screen.on
        screen.choose([candidate(value), candidate(8), candidate(7)], SEED, block, 2)
        screen.learn(candidate(value), sign * value / 10)
    assert screen.concordance == (1.0 if on else 0.0)
    assert screen.on == on
    assert screen.summary().seen_both_ways == CALIBRATION


def test_ties_say_nothing(bench):
    screen, _, block = bench
    screen.choose([candidate(1), candidate(2), candidate(3)], SEED, block, 2)
    for value in (1, 2):
        screen.learn(candidate(value), 0.1)
    screen.learn(candidate(3), None)
    assert screen.concordance is None


def test_a_user_whose_rollout_failed_is_left_out(people, scripted_workers, evaluator_on):
    workers = scripted_workers()
    field = split_by_users(people(24, periods=4, questions=8), 0)
    block = field.minibatch(0)
    workers.failures = {(SEED.id, block[0].id): ("outside", "down")}
    evaluator = evaluator_on(workers, 1000)
    evaluator.score([Job(SEED, user) for user in block])
    Screen(evaluator, field).choose([candidate(v) for v in (1, 2, 3)], SEED, block, 2)
    heard = [name for name in workers.ran if name.endswith(f":{SEED.id}")]
    assert len(heard) == 3 * (HEARD_BY - 1)
