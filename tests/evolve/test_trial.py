"""A candidate passes the minibatch, then the gate, or is rejected with its reason."""

import pytest

from evolve.evaluate import Job
from evolve.field import split_by_periods, split_by_users
from evolve.gym.rollout import World
from evolve.lm.offline import OfflineLM
from evolve.optimize.constraints import Constraints
from evolve.optimize.gate import RUN_LEVEL, candidate_level
from evolve.plan import Plan, make_plan
from evolve.trial import Trials
from policies.policy import Lineage, seed_policy

PARENT = seed_policy("awe")
CANDIDATE = PARENT.derive(settings={"top_k": 7}, lineage=Lineage((PARENT.id,), 1, "search"))
OTHER = PARENT.derive(settings={"top_k": 8}, lineage=Lineage((PARENT.id,), 1, "search"))


def half(user, period, question):
    return question % 2 == 0


def always(user, period, question):
    return True


@pytest.fixture
def trial(people, scripted_workers, evaluator_on):
    """A trial of ``CANDIDATE``, of which the parent is right on half of the questions."""

    class Trial:
        def __init__(self):
            self.workers = scripted_workers()
            self.workers.right = {PARENT.id: half, CANDIDATE.id: always}
            self.field = split_by_users(people(24), 0)
            self.budget, self.candidates = 1000, 2
            self.constraints = Constraints()

        def judge(self, candidate=CANDIDATE, over=None):
            self.evaluator = evaluator_on(self.workers, self.budget)
            plan = Plan(self.budget, 0, (), self.candidates, 0)
            self.trials = Trials(self.evaluator, self.field, plan, self.constraints)
            return self.again(candidate, over)

        def again(self, candidate, over=None):
            block, span = self.field.minibatch(0), self.field.span
            self.evaluator.score([Job(p, u, span(u)) for p in (PARENT, candidate) for u in block])
            return self.trials.judge(candidate, PARENT, block, over=over)

    return Trial()


def test_a_better_candidate_is_accepted_at_the_first_look_that_shows_it(trial):
    judged = trial.judge()
    verdict = judged.verdict
    assert (verdict.accepted, verdict.stage) == (True, "gate")
    assert (verdict.candidate, verdict.incumbent) == (CANDIDATE.id, PARENT.id)
    assert (verdict.operator, verdict.settings) == ("search", CANDIDATE.settings)
    assert verdict.minibatch_difference == 0.5
    assert verdict.tokens_per_answer == 11 / 16
    gate = [user.id for user in trial.field.gate[:4]]
    assert judged.candidate == dict.fromkeys(gate, 1.0)
    assert judged.incumbent == dict.fromkeys(gate, 0.5)
    assert trial.evaluator.ledger.spent == 2 * (8 + 4)


def test_one_that_is_no_better_on_the_minibatch_never_reaches_the_gate(trial):
    trial.workers.right[CANDIDATE.id] = half
    judged = trial.judge()
    assert (judged.verdict.accepted, judged.verdict.stage) == (False, "minibatch")
    assert judged.verdict.reason == "mean paired difference +0.0000 on 8 minibatch clusters"
    assert (judged.candidate, judged.incumbent) == ({}, {})
    assert trial.evaluator.ledger.spent == 2 * 8
    assert trial.trials.over is None


def test_what_gains_too_little_for_the_gate_is_not_brought_there(trial):
    block = [user.id for user in trial.field.minibatch(0)]

    def mixed(user, period, question):
        """One question more for half of the minibatch, nearly one less for the others."""
        if user in block[::2]:
            return question in {0, 1, 2}
        return question == 0 or (question == 2 and period == 0)

    trial.workers.right[CANDIDATE.id], trial.candidates = mixed, 20
    judged = trial.judge()
    assert (judged.verdict.stage, judged.verdict.accepted) == ("chance", False)
    assert judged.verdict.reason.endswith("too little to have a chance at the gate")
    assert judged.expected == pytest.approx(judged.verdict.minibatch_difference / 2)
    assert trial.trials.left == RUN_LEVEL


def test_of_what_was_accepted_or_gained_nothing_nothing_is_expected(trial):
    assert trial.judge().expected is None
    trial.workers.right[OTHER.id] = half
    assert trial.again(OTHER).expected is None


def test_one_over_the_limit_of_tokens_is_rejected_before_the_gate(trial):
    trial.constraints = Constraints(answer_tokens=1)
    trial.workers.tokens[CANDIDATE.id] = 31
    judged = trial.judge()
    assert (judged.verdict.accepted, judged.verdict.stage) == (False, "tokens")
    assert judged.verdict.reason == "2 tokens per answer are over the limit of 1"
    assert judged.difference is None
    assert trial.evaluator.ledger.spent == 2 * 8


def test_one_that_keeps_a_limit_is_accepted_where_its_incumbent_does_not(trial):
    trial.workers.right[CANDIDATE.id] = half
    trial.constraints = Constraints(answer_tokens=1)
    judged = trial.judge(over=2.0)
    assert (judged.verdict.accepted, judged.verdict.stage) == (True, "tokens")
    assert judged.verdict.reason == "1 tokens per answer keep the limit, and its incumbent's do not"


def test_one_nearer_to_a_limit_must_gain_on_the_minibatch(trial):
    trial.constraints, trial.workers.tokens[CANDIDATE.id] = Constraints(answer_tokens=1), 31
    judged = trial.judge(over=3.0)
    assert (judged.verdict.accepted, judged.verdict.stage) == (True, "tokens")
    assert judged.verdict.reason.startswith("mean paired difference +0.5000 on 8 minibatch")
    assert judged.verdict.reason.endswith("the limit of 1, but nearer to it than its incumbent's")
    assert trial.evaluator.ledger.spent == 2 * 8
    assert not trial.again(CANDIDATE, over=2.1).verdict.accepted  # hardly nearer
    trial.workers.right[OTHER.id], trial.workers.tokens[OTHER.id] = half, 31
    assert not trial.again(OTHER, over=3.0).verdict.accepted  # no gain


def test_one_that_gains_on_train_users_alone_is_rejected_at_the_gate(trial):
    train = {user.id for user in trial.field.minibatch(0)}
    trial.workers.right[CANDIDATE.id] = lambda u, p, q: u in train or half(u, p, q)
    verdict = trial.judge().verdict
    assert (verdict.accepted, verdict.stage) == (False, "gate")
    assert "mean difference +0.0000" in verdict.reason


def test_nobody_reaches_the_gate_once_the_level_of_the_run_is_spent(trial):
    train = {user.id for user in trial.field.minibatch(0)}
    for policy in (CANDIDATE, OTHER):
        trial.workers.right[policy.id] = lambda u, p, q: u in train or half(u, p, q)
    trial.candidates = 1
    trial.judge()
    trial.trials.left = 0.0
    over = "what 1 candidate at the gate left of the run's level is too little to pass"
    assert trial.trials.over == over
    spent = trial.evaluator.ledger.spent
    verdict = trial.again(OTHER).verdict
    assert (verdict.accepted, verdict.stage) == (False, "level")
    assert verdict.reason.endswith(f"clusters, but {over}")
    assert trial.evaluator.ledger.spent == spent + 8


def test_the_level_is_shared_out_by_the_pace_and_never_exceeds_that_of_the_run(trial):
    train = {user.id for user in trial.field.minibatch(0)}
    trial.budget, trial.candidates, levels = 300, 6, []
    trial.workers.right[CANDIDATE.id] = lambda u, p, q: u in train or half(u, p, q)
    trial.judge()
    for value in range(12, 26):
        policy = PARENT.derive(settings={"top_k": value})
        trial.workers.right[policy.id] = trial.workers.right[CANDIDATE.id]
        levels.append(RUN_LEVEL - trial.trials.left)
        if trial.trials.over is not None or trial.evaluator.ledger.left < 30:
            break
        trial.again(policy)
    assert levels[0] == pytest.approx(RUN_LEVEL / 6, rel=0.2)
    assert levels == sorted(set(levels))
    assert len(levels) > 6
    assert levels[-1] <= RUN_LEVEL


def test_a_pair_that_failed_outside_is_dropped_on_both_sides(trial):
    block, gate = trial.field.minibatch(0), trial.field.gate
    trial.workers.failures = {
        (PARENT.id, block[0].id): ("outside", "down"),
        (CANDIDATE.id, block[1].id): ("outside", "down"),
        (PARENT.id, gate[0].id): ("outside", "down"),
        (CANDIDATE.id, gate[2].id): ("outside", "down"),
    }
    judged = trial.judge()
    assert judged.verdict.accepted
    assert judged.verdict.minibatch_difference == 0.5
    assert gate[0].id in judged.candidate
    assert gate[0].id not in judged.incumbent
    assert gate[2].id not in judged.candidate
    assert len(judged.candidate.keys() & judged.incumbent.keys()) == 4


def test_nothing_can_be_said_where_every_pair_failed(trial):
    trial.workers.failures = {
        (PARENT.id, user.id): ("policy", "too long") for user in trial.field.minibatch(0)
    }
    verdict = trial.judge().verdict
    assert (verdict.stage, verdict.minibatch_difference) == ("minibatch", None)
    assert not verdict.accepted


@pytest.mark.parametrize("place", ["minibatch", "gate"])
def test_a_policys_own_failure_rejects_it_with_its_reason(trial, place):
    users = trial.field.minibatch(0) if place == "minibatch" else trial.field.gate
    trial.workers.failures[CANDIDATE.id, users[3].id] = ("policy", "the context is too long")
    judged = trial.judge()
    assert (judged.verdict.accepted, judged.verdict.stage) == (False, "failed")
    assert judged.verdict.reason == "the context is too long"
    assert (judged.candidate, judged.incumbent) == ({}, {})


def test_where_the_budget_ends_at_the_gate_what_was_judged_decides(trial):
    trial.workers.right[CANDIDATE.id] = lambda u, p, q: (
        half(u, p, q) or (int(u[1:]) + p + q) % 8 == 1
    )
    trial.budget = 2 * 8 + 2 * 4 + 1
    verdict = trial.judge().verdict
    assert verdict.stage == "gate"
    assert "after 4 clusters" in verdict.reason
    # All of the level, as no look comes after.
    assert "within this look's 0.082; the budget ended the gate after 4 of 8" in verdict.reason
    assert trial.evaluator.ledger.spent == 24


def test_where_not_even_a_look_is_paid_nothing_is_accepted(trial):
    trial.budget = 2 * 8 + 7
    verdict = trial.judge().verdict
    assert (verdict.accepted, verdict.stage) == (False, "gate")
    assert verdict.reason == (
        "only 0 clusters could be judged on both sides, 4 are needed; the budget ended the gate "
        "after 0 of 8 users"
    )


def test_by_time_the_gate_costs_nothing_more_and_its_clusters_are_questions(trial, people):
    trial.field = split_by_periods(people(4, periods=8, questions=4))
    judged = trial.judge()
    assert judged.verdict.accepted
    assert len(judged.candidate) == 16
    assert set(judged.candidate.values()) == {1.0}
    assert set(judged.incumbent.values()) == {0.0, 1.0}
    assert len(trial.workers.ran) == 8
    trial.workers.right[OTHER.id] = lambda u, p, q: half(u, p, q) or p < 4
    verdict = trial.again(OTHER).verdict
    assert (verdict.accepted, verdict.stage) == (False, "gate")


def test_the_plans_level_lets_a_perfect_candidate_pass(trial, people):
    world = World(OfflineLM(), OfflineLM(), 0)
    field, plan = make_plan(60, [split_by_users(people(12), 0)], world, native=False)
    assert candidate_level(plan.candidates) == 0.1 / plan.candidates
    trial.field, trial.candidates = field, plan.candidates
    trial.workers.right[PARENT.id] = lambda *_: False
    assert trial.judge().verdict.accepted
