"""What a run remembers of its candidates: of train users, and of nothing else."""

from dataclasses import replace

import pytest

from evolve.evaluate import Job
from evolve.field import split_by_users
from evolve.history import History
from evolve.optimize.base import Verdict
from evolve.plan import Plan
from evolve.trial import Trials
from feedback.digest import Feedback
from policies.policy import seed_policy

PARENT = seed_policy("awe")
CANDIDATE = PARENT.derive(settings={"top_k": 7})
FEEDBACK = Feedback(PARENT.id, {}, (), {}, {}, "")


@pytest.fixture
def lived(people, scripted_workers, evaluator_on):
    """A history after both policies were scored on a minibatch and on gate users."""
    workers, field = scripted_workers(), split_by_users(people(24), 0)
    workers.right = {PARENT.id: lambda u, p, q: q % 2 == 0, CANDIDATE.id: lambda u, p, q: True}
    evaluator = evaluator_on(workers, 1000)
    block, span = field.minibatch(0), field.span
    users = (*block, *field.gate)
    evaluator.score([Job(p, u, span(u)) for p in (PARENT, CANDIDATE) for u in users])
    return History(Trials(evaluator, field, Plan(1000, 0, (), 2, 0)), field), block


def verdict(stage: str) -> Verdict:
    return Verdict(CANDIDATE.id, PARENT.id, CANDIDATE.settings, "search", False, stage, "why")


def test_scored_candidates_are_kept_with_what_they_did_worse(lived):
    history, block = lived
    made_from = PARENT, FEEDBACK
    history.add(CANDIDATE, verdict("gate"), made_from, PARENT, block)
    history.add(PARENT, verdict("minibatch"), made_from, CANDIDATE, block)
    better, worse = history.tried
    assert (better.policy, better.parent, better.feedback) == (CANDIDATE, PARENT, FEEDBACK)
    assert sum(better.changes.values()) < 0
    assert {state: -count for state, count in better.changes.items()} == worse.changes


@pytest.mark.parametrize("stage", ["text", "duplicate", "limit", "budget"])
def test_what_was_never_scored_is_not_kept(lived, stage):
    history, block = lived
    history.add(CANDIDATE, verdict(stage), (PARENT, FEEDBACK), PARENT, block)
    assert history.tried == ()


def test_what_was_heard_is_kept_without_what_it_did_worse(lived):
    history, block = lived
    heard = replace(verdict("screen"), heard_difference=0.25)
    history.add(CANDIDATE, heard, (PARENT, FEEDBACK), PARENT, block)
    (tried,) = history.tried
    assert (tried.verdict.heard_difference, tried.changes) == (0.25, {})


def test_strengths_are_of_train_users_alone(lived):
    history, block = lived
    strengths = history.strengths((PARENT, CANDIDATE))
    assert strengths[PARENT.id] == {user.id: 0.5 for user in block}
    assert strengths[CANDIDATE.id] == {user.id: 1.0 for user in block}
