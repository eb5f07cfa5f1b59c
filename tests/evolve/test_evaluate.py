"""Rollouts are paid for once, journaled in order, and never run twice."""

import json
from fractions import Fraction

import pytest

from evolve.budget import Ledger
from evolve.evaluate import Evaluator, Job
from evolve.gym.rollout import Span
from evolve.journal import FILE, Journal
from evolve.lm.models import ModelSpec
from evolve.probing import Probing
from evolve.workers import WorldSpec
from feedback.records import Stage, Usage
from policies.errors import BudgetExhaustedError, RunStoppedError, TooManyFailuresError
from policies.policy import seed_policy

AWE, RAG, AWI = (seed_policy(name) for name in ("awe", "rag", "awi"))
OTHER = AWI.derive(settings={"max_memory_tokens": 500})
SPEC = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), 0, 1, 2)


class Session:
    """One process's life of a run: an evaluator on the folder's journal."""

    def __init__(self, folder, workers, budget=10, architectures=()):
        self.workers = workers
        self.stopping = False
        self.lived = []
        self.said = []
        self.journal = Journal(folder, {}, resume=(folder / FILE).exists())
        self.evaluator = Evaluator(
            self.journal,
            Ledger(Fraction(budget)),
            workers,
            SPEC,
            lambda: self.stopping,
            self.lived.append,
            Probing(architectures, self.said.append),
        )

    def __enter__(self):
        self.journal.__enter__()
        return self.evaluator

    def __exit__(self, *error):
        self.journal.__exit__(*error)


@pytest.fixture
def session(tmp_path, scripted_workers):
    return lambda **more: Session(tmp_path / "run", scripted_workers(), **more)


@pytest.fixture
def events(tmp_path):
    def read(*kinds):
        lines = (tmp_path / "run" / FILE).read_text().splitlines()
        return [(e["kind"], e["key"]) for e in map(json.loads, lines) if e["kind"] in kinds]

    return read


def jobs(users, *policies):
    return [Job(policy, user) for policy in policies for user in users]


def test_a_pair_is_charged_and_run_once(session, people):
    users = people(3)
    one = session()
    with one as evaluator:
        scored = evaluator.score(jobs(users[:2], AWE, AWE))
        assert evaluator.score(jobs(users, AWE))[:2] == scored[:2] == scored[2:]
        assert evaluator.cost(jobs(users, AWE)) == 0
        assert (evaluator.ledger.spent, evaluator.rollouts) == (3, 3)
    assert one.workers.ran == [f"{AWE.id}:{user.id}" for user in users]
    assert one.lived == [1.0, 2.0, 3.0]


def test_a_partial_rollout_is_charged_its_share_and_is_another_pair(session, people):
    (user,) = people(1, periods=4, questions=4)
    half, alone = Job(AWE, user, Span(periods=2)), Job(AWE, user, Span(answers_only=True))
    calls, whole = [1 + 8, 3 + 8, 3 + 8, 3 + 8], Fraction(9 + 33)
    with session() as evaluator:
        assert evaluator.cost([half, half]) == sum(calls[:2]) / whole
        assert evaluator.cost([alone]) == 16 / whole
        evaluator.score([half, alone, Job(AWE, user)])
        assert evaluator.ledger.spent == 1 + (sum(calls[:2]) + 16) / whole
        assert len(evaluator.score([half])[0].diagnoses) == 8
    assert [half.name, alone.name] == [f"{AWE.id}:u000:2", f"{AWE.id}:u000:a"]


def test_more_than_is_left_runs_nothing(session, people):
    one = session(budget=3)
    with one as evaluator:
        evaluator.score(jobs(people(2), AWE))
        with pytest.raises(BudgetExhaustedError):
            evaluator.score(jobs(people(2), RAG))
        assert evaluator.ledger.spent == 2
        evaluator.score(jobs(people(1), RAG))
    assert len(one.workers.ran) == 3


def test_every_reservation_is_journaled_before_its_rollouts(session, people, events):
    with session() as evaluator:
        evaluator.score(jobs(people(2), AWE))
        evaluator.score(jobs(people(2), RAG))
    found = events("reserve", "rollout")
    assert [kind for kind, _ in found] == ["reserve", "rollout", "rollout"] * 2
    assert found[0][1] == found[1][1] == f"{AWE.id}:u000"


@pytest.mark.parametrize("lives", range(7))
def test_a_reservation_that_a_kill_interrupted_is_used_again(
    session, people, events, killed, lives
):
    users = people(3)

    def run(evaluator):
        scored = evaluator.score(jobs(users, AWE)) + evaluator.score(jobs(users[:2], RAG))
        bounds = evaluator.bounds(users[:2])
        return scored, dict(bounds), evaluator.ledger.spent, evaluator.usage, evaluator.bound_usage

    one, two = session(), None
    one.workers.lives = lives
    with pytest.raises(killed), one as evaluator:
        run(evaluator)
    two = session()
    with two as evaluator:
        resumed = run(evaluator)
    assert len(one.workers.ran) == lives
    names = [job.name for job in jobs(users, AWE) + jobs(users[:2], RAG)] + ["u000", "u001"]
    assert one.workers.ran + two.workers.ran == names
    assert resumed[2] == 5
    with session() as evaluator:
        assert run(evaluator) == resumed
    assert len(set(events("rollout", "bounds"))) == len(events("rollout", "bounds")) == 7


@pytest.mark.parametrize("done", range(4))
def test_bounds_go_to_the_users_that_they_are_of(session, people, killed, done):
    users = people(4)
    one = session()
    one.workers.lives = done
    with pytest.raises(killed), one as evaluator:
        evaluator.bounds(users)
    two = session()
    two.workers._bounds = lambda user: {(user.id, 0, 0): 0.0}
    with two as evaluator:
        found = evaluator.bounds(users)
    assert {user for user, _, _ in found} == {user.id for user in users}
    assert [found[user.id, 0, 0] for user in users] == [1.0] * done + [0.0] * (4 - done)


def test_bounds_are_asked_once_and_outside_the_budget(session, people):
    one = session()
    with one as evaluator:
        evaluator.bounds(people(2))
        evaluator.bounds(people(3))
        assert evaluator.ledger.spent == 0
        assert evaluator.bound_usage == (("bound", Usage(3, 6, 9)),)
        assert evaluator.usage == ()
    assert one.workers.ran == ["u000", "u001", "u002"]


def test_asked_to_stop_it_starts_nothing_more_and_raises(session, people, events):
    one = session()
    one.workers.right[AWE.id] = lambda *_: setattr(one, "stopping", True)
    with one as evaluator:
        with pytest.raises(RunStoppedError):
            evaluator.score(jobs(people(3), AWE))
        with pytest.raises(RunStoppedError):
            evaluator.score(jobs(people(1), RAG))
        with pytest.raises(RunStoppedError):
            evaluator.bounds(people(1))
        assert len(evaluator.score(jobs(people(1), AWE))) == 1  # what is known costs nothing
    assert one.workers.ran == [f"{AWE.id}:u000"]
    assert len(events("rollout")) == 1
    two = session()
    with two as evaluator:
        assert len(evaluator.score(jobs(people(3), AWE))) == 3
    assert len(two.workers.ran) == 2


def test_a_failed_rollout_is_known_and_says_nothing(session, people):
    one = session()
    one.workers.failures[AWE.id, "u001"] = ("outside", "the network is down")
    with one as evaluator:
        right, failed = evaluator.score(jobs(people(2), AWE))
        assert len(right.diagnoses) == 16
        assert (failed.diagnoses, failed.rollout.failure_kind) == ((), "outside")
        evaluator.score(jobs(people(2), AWE))
    assert len(one.workers.ran) == 2


def outage(users, down):
    """Failures of the users whose numbers are given."""
    return {(AWE.id, users[n].id): ("outside", "the network is down") for n in down}


@pytest.mark.parametrize(
    ("down", "told"),
    [
        ([0, 1], "2 of 2"),
        ([0, 8], "2 of 9"),
        ([3, 9, 13], "3 of 14"),
        ([9, 10, 11], "3 of 12"),
    ],
)
def test_more_than_a_fifth_failed_stops_the_run_with_the_reason(
    session, people, events, tmp_path, down, told
):
    users = people(20)
    one = session(budget=20)
    one.workers.failures = outage(users, down)
    with one as evaluator, pytest.raises(TooManyFailuresError) as stopped:
        evaluator.score(jobs(users, AWE))
    message = str(stopped.value)
    assert f"but {told} did" in message
    assert "the network is down" in message
    assert f"--resume {tmp_path / 'run'}" in message
    assert len(events("rollout")) == down[-1]  # all before it, and not the one too many


@pytest.mark.parametrize("down", [[], [0], [4], [0, 9], [3, 9, 14], range(16, 20)])
def test_up_to_a_fifth_may_fail_at_any_time(session, people, down):
    users = people(20)
    one = session(budget=20)
    one.workers.failures = outage(users, down)
    with one as evaluator:
        scored = evaluator.score(jobs(users, AWE))
        assert sum(s.rollout.failure is not None for s in scored) == len(down)


def test_failures_of_policies_do_not_count_among_them(session, people):
    users = people(6)
    one = session()
    one.workers.failures = {(AWE.id, user.id): ("policy", "too long") for user in users}
    with one as evaluator:
        assert len(evaluator.score(jobs(users, AWE))) == 6


def test_a_stopped_run_goes_on_once_the_cause_is_mended(session, people, events):
    users = people(8)
    for mended in (False, False, True):
        one = session()
        if not mended:
            one.workers.failures = outage(users, range(2, 8))
        with one as evaluator:
            if mended:
                scored = evaluator.score(jobs(users, AWE))
                assert evaluator.ledger.spent == 8
                assert [s.rollout.user for s in scored if s.rollout.failure] == ["u002"]
            else:
                with pytest.raises(TooManyFailuresError, match="2 of 4"):
                    evaluator.score(jobs(users, AWE))
                assert len(events("rollout")) == 3
    assert one.workers.ran == [f"{AWE.id}:{user.id}" for user in users[3:]]


def test_what_is_known_is_found_without_paying(session, people):
    users = people(3)
    with session() as evaluator:
        scored = evaluator.score(jobs(users[:2], AWE))
        assert evaluator.known(AWE, users, lambda _: Span()) == scored
        assert evaluator.known(AWE, users, lambda _: Span(periods=1)) == []
        assert evaluator.known(RAG, users, lambda _: Span()) == []


def test_a_rejected_policy_is_forgotten_but_for_its_diagnoses(session, people):
    with session() as evaluator:
        evaluator.score(jobs(people(1), AWE, RAG))
        evaluator.forget(AWE)
        forgotten, kept = evaluator.score(jobs(people(1), AWE, RAG))
        assert forgotten.rollout.answers == ()
        assert forgotten.diagnoses[0].stage is Stage.UTILIZATION
        assert len(kept.rollout.answers) == 16


def test_usage_is_added_up_by_role(session, people):
    with session() as evaluator:
        evaluator.score(jobs(people(2), AWE))
        evaluator.spend("rewrite", Usage(1, 100, 10))
        assert evaluator.usage == (
            ("answer", Usage(32, 20, 2)),
            ("rewrite", Usage(1, 100, 10)),
        )


class TestProbing:
    """The first rollouts are probed both ways; what that found decides over the rest."""

    @staticmethod
    def life(evaluator, users):
        """Two policies, scored in parts, and a report; what is left of all that."""
        for policy, some in (
            (AWI, users[:4]),
            (OTHER, users[:2]),
            (OTHER, users[2:]),
            (AWI, users),
        ):
            evaluator.score(jobs(some, policy))
        evaluator.score([Job(AWI, user, Span(answers_only=True)) for user in users[:1]])
        return evaluator.ledger.spent, evaluator.probing.summary()

    @pytest.mark.parametrize(
        ("differing", "modes"),
        [
            ({}, "bbbs bj jjjj jj s"),
            ({AWI.id: 16}, "bbbs ss ssss ss s"),
            ({OTHER.id: 16}, "bbbs bj ssss ss s"),
        ],
    )
    def test_modes_follow_from_what_was_found(self, session, people, tmp_path, differing, modes):
        users = people(6)
        one = session(budget=30, architectures=["awi"])
        one.workers.differing = differing
        with one as evaluator:
            spent, summary = self.life(evaluator, users)
        assert "".join(mode[0] for mode in one.workers.probed) == modes.replace(" ", "")
        lines = (tmp_path / "run" / FILE).read_text().splitlines()
        reserved = [e["data"] for e in map(json.loads, lines) if e["kind"] == "reserve"]
        kept = [one.get("probes", ["single"] * len(one["jobs"])) for one in reserved]
        assert " ".join("".join(mode[0] for mode in batch) for batch in kept) == modes
        assert spent == sum(Fraction(one["cost"]) for one in reserved)
        assert summary["awi"]["differing"] == sum(differing.values()) * (
            3 if AWI.id in differing else 1
        )
        assert len(one.said) == 1 + (OTHER.id in differing)

    @pytest.mark.parametrize("differing", [{}, {AWI.id: 16}, {OTHER.id: 16}])
    @pytest.mark.parametrize("lives", [0, 1, 3, 4, 5, 6, 11])
    def test_killed_anywhere_it_ends_with_the_same_bytes(
        self, session, people, tmp_path, killed, differing, lives
    ):
        journals, found, users = [], [], people(6)
        for kills in ((), (lives,)):
            (tmp_path / "run" / FILE).unlink(missing_ok=True)
            for kill in (*kills, None):
                one = session(budget=30, architectures=["awi"])
                one.workers.differing, one.workers.lives = differing, kill
                with one as evaluator:
                    if kill is None:
                        found.append(self.life(evaluator, users))
                    else:
                        with pytest.raises(killed):
                            self.life(evaluator, users)
            journals.append((tmp_path / "run" / FILE).read_bytes())
        assert journals[0] == journals[1]
        assert found[0] == found[1]

    def test_a_journal_that_knew_single_probes_alone_goes_on(self, session, people):
        users = people(6)
        with session(budget=30) as evaluator:  # none of its architectures is measured
            evaluator.score(jobs(users[:4], AWI))
        one = session(budget=30, architectures=["awi"])
        with one as evaluator:
            evaluator.score(jobs(users[:4], AWI))
            assert (evaluator.ledger.spent, one.workers.ran) == (4, [])
            evaluator.score(jobs(users, OTHER))
        assert one.workers.probed == ["both"] * 3 + ["single"] * 3

    def test_more_than_is_left_measures_nothing(self, session, people):
        one = session(budget=3, architectures=["awi"])
        with one as evaluator:
            with pytest.raises(BudgetExhaustedError):
                evaluator.score(jobs(people(3), AWI))
            assert evaluator.probing.left("awi") == 3
            evaluator.score(jobs(people(2), AWI))
            assert evaluator.probing.left("awi") == 1
