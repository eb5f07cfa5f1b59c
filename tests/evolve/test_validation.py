"""Validation: whoever scores highest on the gate users is the best, and no other test is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from evolve.book import FREE_IN_A_ROW
from evolve.display import PlainDisplay
from evolve.field import split_by_periods, split_by_users
from evolve.folder import RunFolder
from evolve.journal import FILE
from evolve.lm.meter import Meter
from evolve.lm.offline import OfflineLM
from evolve.optimize.archive import Archive, Version
from evolve.optimize.base import Proposal, RejectedRewriteError
from evolve.optimize.constraints import NO_LIMITS, Constraints
from evolve.plan import Plan
from evolve.proposals import Proposals
from evolve.setup import Setup
from evolve.validation import Validation
from policies.errors import AllFailedError
from policies.policy import seed_policy
from tests.evolve.scripted import ScriptedProposer

SEED = seed_policy("awe")
VALUES = (1, 2, 3, 4, 5, 6)


def setting(value):
    return Proposal("search", settings={"top_k": value})


def policy_of(value):
    return SEED.derive(settings={"top_k": value})


@dataclass(frozen=True, slots=True)
class World:
    """In what a scripted validation lives.

    Attributes:
        good: Value of a policy's setting to the number of questions of 8 that it gets right.
        tokens: Value to its tokens per answer.
        lives: Of scripted workers.
        fails: Of scripted workers.
    """

    good: Mapping[int, int] = field(default_factory=dict)
    tokens: Mapping[int, int] = field(default_factory=dict)
    lives: object = None
    fails: Mapping[object, str] = field(default_factory=dict)


PLAIN = World()


@pytest.fixture
def run(tmp_path, people, scripted_workers, evaluator_on):
    """Evolves the seed, right on 2 of 8 questions, by scripted proposals; the last is repeated."""

    def make(*script, world=PLAIN, budget=1000, limits=NO_LIMITS, holdout="users"):
        workers = scripted_workers()
        workers.lives, workers.failures = world.lives, dict(world.fails)
        shares = {SEED.id: 2} | {policy_of(v).id: world.good.get(v, 2) for v in VALUES}
        for policy, share in shares.items():
            workers.right[policy] = lambda user, period, question, share=share: question < share
        tokens = {SEED.id: 100} | {policy_of(v).id: t for v, t in world.tokens.items()}
        workers.tokens = {policy: 32 * each for policy, each in tokens.items()}
        users = people(24, periods=4, questions=8)
        split = split_by_users(users, 0) if holdout == "users" else split_by_periods(users)
        evaluator = evaluator_on(workers, budget)
        proposer = ScriptedProposer(script, tmp_path / "run")
        setup = Setup(
            evaluator,
            Proposals(proposer, Meter(OfflineLM()), evaluator),
            split,
            Plan(budget, 0, (), 10, 0),
            RunFolder(tmp_path / "run", "run"),
            PlainDisplay(),
            0,
            "digest",
        )
        engine = Validation(setup, Archive((Version(SEED, {}),), constraints=limits))
        return engine, workers, proposer.contexts

    return make


def stages(engine):
    return [verdict.stage for verdict in engine.book.verdicts]


def best(engine):
    return engine.book.archive.best().policy.settings["top_k"]


def test_any_gain_on_validation_users_is_accepted_and_is_the_next_parent(run, tmp_path):
    engine, _, contexts = run(
        setting(1), setting(2), setting(3), world=World(good={1: 3, 2: 4, 3: 3})
    )
    engine.run()
    assert [verdict.accepted for verdict in engine.book.verdicts[:3]] == [True, True, False]
    assert stages(engine)[:3] == ["validation"] * 3
    assert best(engine) == 2
    assert [context.parent.settings["top_k"] for context in contexts[:3]] == [10, 1, 2]
    assert engine.book.archive.gate_gain() == pytest.approx(2 / 8)
    names = sorted(path.name[:7] for path in (tmp_path / "run" / "policies").iterdir())
    assert names == ["gen-001", "gen-002"]


def test_only_gate_users_are_lived_and_their_failures_are_told(run):
    engine, workers, contexts = run(setting(1), world=World(good={1: 8}))
    engine.run()
    gate = {user.id for user in engine._setup.field.gate}
    assert {name.partition(":")[2] for name in workers.ran} == gate
    assert contexts[0].feedback.numbers["answers"] == len(gate) * 4 * 8


def test_equal_is_no_gain(run):
    engine, _, _ = run(setting(1))
    engine.run()
    assert not engine.book.verdicts[0].accepted
    assert best(engine) == 10


def test_one_that_is_behind_is_stopped_after_a_block(run):
    engine, workers, _ = run(setting(1), world=World(good={1: 0}))
    engine.run()
    assert sum(name.startswith(policy_of(1).id) for name in workers.ran) == 4
    assert engine.book.verdicts[0].reason.startswith("stopped as it is behind")


def test_what_costs_nothing_ends_the_run(run):
    unreadable = RejectedRewriteError("unreadable", setting(1))
    engine, _, _ = run(setting(1), unreadable, setting(2), setting(2), world=World(good={2: 3}))
    engine.run()
    assert stages(engine)[:4] == ["validation", "text", "validation", "duplicate"]
    assert engine.reason == f"none of the last {FREE_IN_A_ROW} proposals could be judged"


def test_a_candidate_that_the_budget_cuts_off_is_turned_down(run):
    engine, _, _ = run(setting(1), world=World(good={1: 8}), budget=13)
    engine.run()
    assert stages(engine) == ["budget"]
    assert engine.reason.startswith("the budget is spent")
    assert best(engine) == 10


def test_what_takes_too_many_tokens_is_turned_down_after_a_block(run):
    limits = Constraints(answer_tokens=150)
    engine, workers, _ = run(setting(1), world=World(good={1: 8}, tokens={1: 200}), limits=limits)
    engine.run()
    assert stages(engine)[0] == "tokens"
    assert sum(name.startswith(policy_of(1).id) for name in workers.ran) == 4
    assert best(engine) == 10


def test_a_seed_over_the_limit_gives_way_to_whatever_keeps_it(run):
    limits = Constraints(answer_tokens=90)
    engine, _, _ = run(setting(1), world=World(good={1: 1}, tokens={1: 50}), limits=limits)
    engine.run()
    assert (stages(engine)[0], best(engine)) == ("tokens", 1)


def test_a_policy_that_fails_by_its_own_fault_is_turned_down(run, people):
    fails = {(policy_of(1).id, user.id): ("policy", "too long") for user in people(24)}
    engine, _, _ = run(setting(1), setting(2), world=World(good={1: 8, 2: 3}, fails=fails))
    engine.run()
    assert stages(engine)[:2] == ["failed", "validation"]
    assert best(engine) == 2


def test_a_seed_that_always_fails_teaches_nothing(run, people):
    fails = {(SEED.id, user.id): ("policy", "too long") for user in people(24)}
    engine, _, _ = run(setting(1), world=World(fails=fails))
    with pytest.raises(AllFailedError, match="too long"):
        engine.run()


def test_under_a_split_by_time_the_gate_periods_are_validated_on(run):
    engine, workers, _ = run(
        setting(1), setting(2), world=World(good={1: 4, 2: 0}), holdout="periods"
    )
    engine.run()
    assert best(engine) == 1
    assert len({name.partition(":")[2] for name in workers.ran}) == 24


@pytest.mark.parametrize("lives", [0, 5, 9, 13, 20])
def test_killed_anywhere_it_goes_on_to_the_same_journal(run, tmp_path, killed, lives):
    path = tmp_path / "run" / FILE
    script, good = [setting(v) for v in (1, 2, 3)], {1: 3, 2: 1, 3: 4}
    whole, _, _ = run(*script, world=World(good=good), budget=40)
    whole.run()
    journal = path.read_bytes()
    path.unlink()
    first, _, _ = run(*script, world=World(good=good, lives=lives), budget=40)
    with pytest.raises(killed):
        first.run()
    second, _, _ = run(*script, world=World(good=good), budget=40)
    second.run()
    assert path.read_bytes() == journal
    assert (second.book.verdicts, second.reason) == (whole.book.verdicts, whole.reason)
