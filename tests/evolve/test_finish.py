"""The end of a run: test users are scored once, from what was set aside."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from evolve.field import split_by_periods, split_by_users
from evolve.finish import Outcome, finish, summarize
from evolve.gains import memory_gain, shown_gain
from evolve.optimize.archive import Archive, PassedOver, Version
from evolve.optimize.base import Verdict
from evolve.plan import Plan
from evolve.report_tables import closing_tables
from evolve.setup import Setup
from evolve.tables import plain
from evolve.workers import LiveTask
from feedback.records import Diagnosis, Stage
from policies.errors import BudgetExhaustedError
from policies.policy import seed_policy

SEED = seed_policy("awe")
BEST = SEED.derive(settings={"top_k": 7})
GATE = ("g1", "g2", "g3", "g4")
ARCHIVE = Archive((Version(SEED, dict.fromkeys(GATE, 0.25)), Version(BEST, dict.fromkeys(GATE, 1))))


def engine_of(archive, judged=None, reason=""):
    """What the tables ask of an engine."""
    book = SimpleNamespace(archive=archive, judged=judged or {})
    return SimpleNamespace(book=book, reason=reason, screen=None)


@pytest.fixture
def ended(people, scripted_workers, evaluator_on):
    """A run that accepted ``BEST``; the seed is right on a quarter of the test users' answers."""

    class Ended:
        def __init__(self):
            self.workers = scripted_workers()
            self.workers.right[SEED.id] = lambda u, p, q: q == 0
            self.workers.right[BEST.id] = lambda u, p, q: q <= int(u[1:]) % 2 + 1
            self.field = split_by_users(people(24), 0)
            self.archive = ARCHIVE

        def __call__(self) -> Outcome:
            share = Fraction(16, 42)  # of ``none``, which only answers
            self.evaluator = evaluator_on(self.workers, budget=4 * (3 + share))
            self.plan = Plan(60, 4 * (3 + share), self.field.test[:4], 2, 0)
            return finish(self.evaluator, self.field, self.plan, self.archive, 0)

    return Ended()


def test_seed_best_native_and_none_on_the_planned_test_users(ended):
    outcome = ended()
    assert list(outcome.tested) == ["seed", "best", "native", "none"]
    assert {name: tested.scores.n for name, tested in outcome.tested.items()} == dict.fromkeys(
        outcome.tested, 4 * 16
    )
    users = {d.user for d in outcome.tested["best"].diagnoses}
    assert users == {user.id for user in ended.plan.test}
    assert ended.evaluator.ledger.left == 0
    assert outcome.tested["none"].tokens is None
    assert outcome.tested["seed"].tokens == 11 / 16


def test_the_gain_with_its_interval(ended):
    outcome = ended()
    odd = sum(int(user.id[1:]) % 2 for user in ended.plan.test)
    accuracy = (2 * (4 - odd) + 3 * odd) / 16
    assert outcome.tested["seed"].scores.memory == pytest.approx((0.25 - 0.5) / 0.5)
    assert outcome.tested["best"].scores.memory == pytest.approx((accuracy - 0.5) / 0.5)
    gain = outcome.gain
    assert gain.mean == pytest.approx((accuracy - 0.25) / 0.5)
    assert gain.low < gain.mean < gain.high
    assert gain.n == 4
    assert outcome.shrinkage == pytest.approx((0.75 - (accuracy - 0.25)) / 0.75)
    assert outcome.line == (
        f"test users: memory score seed -0.50 → best {2 * accuracy - 1:.2f}, "
        f"{gain.mean:+.2f} [{gain.low:.2f}, {gain.high:.2f}], n = 64 answers of 4 users"
    )


def test_one_user_gives_no_interval(ended):
    ended.field = split_by_users(ended.field.test[:3], 0)
    outcome = ended()
    assert outcome.line.endswith("[no interval from one cluster], n = 16 answers of 1 user")
    assert summarize(outcome, ARCHIVE, ended.evaluator, ended.plan, "why")["gain"]["low"] is None


def test_without_a_version_the_seed_stays_and_is_scored_once(ended):
    ended.archive = Archive((Version(SEED, {}),))
    outcome = ended()
    assert outcome.line == (
        "test users: the seed stays, memory score -0.50, n = 64 answers of 4 users"
    )
    assert (outcome.gain, outcome.shrinkage) == (None, None)
    assert len(ended.workers.ran) == 4 * 3 + 4  # and the bounds


def test_one_policy_in_two_roles_has_one_row(ended):
    none = seed_policy("none")
    ended.archive = Archive((Version(none, {}),))
    outcome = ended()
    setup = Setup(ended.evaluator, None, ended.field, ended.plan, None, None, 0, "")
    test, *_ = closing_tables(setup, engine_of(ended.archive), outcome)  # no candidates
    assert [row[0].split(f" {none.short_id}")[0] for row in test.rows[::2]] == [
        "seed = best = none"
    ]


def test_a_native_seed_is_its_own_baseline(ended):
    native = seed_policy("native")
    ended.archive = Archive((Version(native, {}),))
    assert list(ended().tested) == ["seed", "best", "none"]


def test_by_time_only_the_last_periods_count(ended, people):
    ended.field = split_by_periods(people(4, periods=8, questions=4))
    ended.workers.right[SEED.id] = lambda u, p, q: p < 6
    ended.workers.right[BEST.id] = lambda u, p, q: p >= 6
    outcome = ended()
    assert {d.period for d in outcome.tested["seed"].diagnoses} == {6, 7}
    assert outcome.gain.mean == pytest.approx(2.0)
    assert outcome.gain.n == 16


def test_a_user_that_failed_for_one_is_left_out_of_the_difference(ended):
    failed = ended.field.test[0].id
    ended.workers.failures[BEST.id, failed] = ("outside", "down")
    outcome = ended()
    assert outcome.tested["seed"].scores.n == 64
    assert outcome.tested["best"].scores.n == 48
    assert outcome.gain.n == 3


def test_how_far_the_best_is_ahead_of_what_remembers_nothing_and_of_the_whole_history(ended):
    ended.workers.right[seed_policy("none").id] = lambda u, p, q: False
    ended.workers.right[seed_policy("native").id] = lambda u, p, q: q == 3
    outcome = ended()
    best = outcome.tested["best"].scores.accuracy
    assert list(outcome.leads) == ["none", "native"]
    for name, theirs in (("none", 0.0), ("native", 0.25)):
        lead = outcome.leads[name]
        assert lead.accuracy.mean == pytest.approx(best - theirs)
        assert lead.memory.mean == pytest.approx((best - theirs) / 0.5)
        assert lead.memory.low < lead.memory.mean < lead.memory.high
    summary = summarize(outcome, ARCHIVE, ended.evaluator, ended.plan, "why")["over_baselines"]
    assert summary["native"]["memory"] == {
        "mean": outcome.leads["native"].memory.mean,
        "low": outcome.leads["native"].memory.low,
        "high": outcome.leads["native"].memory.high,
        "clusters": 4,
    }


def test_a_native_seed_is_what_the_best_is_compared_with(ended):
    native = seed_policy("native")
    ended.workers.right[native.id] = lambda u, p, q: q == 0
    ended.archive = Archive((Version(native, dict.fromkeys(GATE, 0.25)), ARCHIVE.versions[1]))
    outcome = ended()
    assert outcome.leads["native"].memory == outcome.gain


def test_a_baseline_is_not_ahead_of_itself(ended):
    ended.archive = Archive((Version(seed_policy("native"), {}),))
    assert list(ended().leads) == ["none"]


def test_what_always_failed_is_said(ended):
    for user in ended.field.test:
        ended.workers.failures[BEST.id, user.id] = ("policy", "the context is too long")
        ended.workers.failures[seed_policy("native").id, user.id] = ("policy", "too long")
    outcome = ended()
    assert list(outcome.tested) == ["seed", "none"]
    assert (outcome.gain, outcome.shrinkage) == (None, None)
    assert outcome.line.endswith(
        "cannot be compared, all rollouts of one failed: the context is too long"
    )
    assert summarize(outcome, ARCHIVE, ended.evaluator, ended.plan, "why")["gain"] is None


@pytest.mark.parametrize(
    ("lives", "said"),
    [
        (0, "the budget ended before any of them was scored"),
        (4, "seed and best cannot be compared, the budget ended before both of them were scored"),
        (13, "; the budget ended before all of them were scored"),
    ],
)
def test_a_budget_that_ends_before_the_end(ended, monkeypatch, lives, said):
    def until_spent(tasks):
        for number, task in enumerate(tasks):
            if isinstance(task, LiveTask) and number == lives:
                raise BudgetExhaustedError("time is up")
            yield from ran([task])

    ran = ended.workers.run
    monkeypatch.setattr(ended.workers, "run", until_spent)
    outcome = ended()
    assert outcome.cut
    assert outcome.line.endswith(said)
    assert (outcome.line == f"test users: {said}") == (lives < 13)


def test_a_gain_is_undefined_where_the_bound_does_not_exceed_guessing(people):
    field = split_by_users(people(6), 0)
    right = [Diagnosis("u", 0, n, 2, Stage.RIGHT) for n in range(4)]
    bounds = {("u", 0, n): float(n < 2) for n in range(4)}
    assert memory_gain(right, right, bounds, field.cluster_of, 0) is None


def test_the_summary_in_numbers(ended):
    outcome = ended()
    found = summarize(outcome, ARCHIVE, ended.evaluator, ended.plan, "the level is spent")
    assert (found["schema"], found["ended"]) == (1, "the level is spent")
    assert (found["seed_policy"], found["best_policy"]) == (SEED.id, BEST.id)
    assert found["versions"] == [SEED.id, BEST.id]
    assert found["gain"]["memory"] == outcome.gain.mean
    assert found["gate_gain"] == 0.75
    assert (found["budget"], found["rollouts"]) == (60, 16)
    assert found["spent"] == pytest.approx(4 * (3 + 16 / 42))
    assert found["usage"]["answer"]["calls"] == 4 * 4 * 16
    assert found["bound_usage"] == {
        "bound": {"calls": 4, "prompt_tokens": 8, "completion_tokens": 12}
    }
    test = found["test"]["seed"]
    assert test["accuracy"] + test["write"] + test["read"] + test["utilization"] == 1
    assert test["policy"] == SEED.id


def test_the_front_is_among_the_tables(ended):
    outcome = ended()
    versions = (
        Version(SEED, dict.fromkeys(GATE, 0.25), 900.0),
        Version(BEST, dict.fromkeys(GATE, 1.0), 1200.4),
    )
    tried = SEED.derive(settings={"top_k": 9})
    archive = Archive(versions, passed_over=(PassedOver(tried, SEED.id, -0.1, 4, 800.0),))
    setup = Setup(ended.evaluator, None, ended.field, ended.plan, None, None, 0, "")
    front, *_ = closing_tables(setup, engine_of(archive), outcome)
    assert front.title.startswith("Pareto front")
    assert [(row[0].split()[-1], *row[2:]) for row in front.rows] == [
        (tried.short_id, "4", "800", "rejected at the gate: -0.100"),
        (SEED.short_id, "4", "900", "accepted"),
        (BEST.short_id, "4", "1200", "best"),
    ]


def test_the_tables_that_close_a_run(ended):
    outcome = ended()
    setup = Setup(ended.evaluator, None, ended.field, ended.plan, None, None, 0, "")
    judged = {
        "gen-001.0": Verdict(BEST.id, SEED.id, {}, "search", True, "gate", "better", 0.25, 900.4),
        "gen-001.1": Verdict(BEST.id, SEED.id, {}, "search", False, "duplicate", "equal"),
    }
    engine = engine_of(ARCHIVE, judged, "the level is spent")
    candidates, test, gain, spent = map(plain, closing_tables(setup, engine, outcome))
    assert candidates.splitlines() == [
        "Candidates (the level is spent)",
        "candidate           operator  minibatch  tokens/answer              verdict",
        f"gen-001.0 {BEST.short_id}    search      0.250            900             accepted",
        f"gen-001.1 {BEST.short_id}    search          -              -  rejected: duplicate",
    ]
    assert test.startswith("Test users (random 0.500, upper bound 1.000, shrinkage from gate to ")
    assert [line.split()[0] for line in test.splitlines()[2:]] == ["seed", "best", "native", "none"]
    assert test.splitlines()[-1].endswith("  -")
    assert [line.split()[:4] for line in gain.splitlines()[2:]] == [
        ["best", "less", "none", "4"],
        ["best", "less", "native", "4"],
    ]
    assert shown_gain(outcome.leads["none"].memory) in gain
    assert spent.splitlines()[0] == "Spent: 13.5 of 60 rollouts"
    assert spent.splitlines()[2].split() == ["answer", "256", "160", "16"]
    assert spent.splitlines()[3].startswith("bound (outside the budget)")
