"""Generations: each candidate is judged or turned down once, and why a run ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from evolve.book import FREE_IN_A_ROW
from evolve.display import PlainDisplay
from evolve.evolution import Evolution
from evolve.field import split_by_users
from evolve.folder import RunFolder
from evolve.journal import FILE
from evolve.lm.meter import Meter
from evolve.lm.offline import OfflineLM
from evolve.optimize.archive import Archive, Version
from evolve.optimize.base import Proposal, RejectedRewriteError
from evolve.optimize.constraints import NO_LIMITS, Constraints
from evolve.plan import Plan
from evolve.proposals import Proposals
from evolve.setup import Setup, Thrift
from policies.errors import AllFailedError
from policies.policy import read_policy, seed_policy
from tests.evolve.scripted import ScriptedProposer

SEED = seed_policy("awe")
SPENDTHRIFT = Thrift(racing=False, screening=False)


def setting(value):
    return Proposal("search", settings={"top_k": value})


def good_to(share):
    """Right on a share of the questions, in eighths."""
    return lambda user, period, question: question < share


class Run:
    """One process's life of an evolution, in which ``top_k`` says how good a policy is."""

    def __init__(self, evolution, workers, contexts):
        self.evolution, self.workers, self.contexts = evolution, workers, contexts
        self.error = None
        try:
            evolution.run()
        except BaseException as error:
            self.error = error

    @property
    def stages(self):
        return [verdict.stage for verdict in self.evolution.book.verdicts]

    @property
    def accepted(self):
        return [v.policy.settings["top_k"] for v in self.evolution.book.archive.versions]


@dataclass(frozen=True, slots=True)
class World:
    """In what a scripted evolution lives.

    Attributes:
        good: ``top_k`` of a policy to the share of questions that it gets right, in eighths.
        lives: Of scripted workers.
        fails: Of scripted workers.
        users: How many.
    """

    good: Mapping[int, object] = field(default_factory=dict)
    lives: object = None
    fails: Mapping[str, object] = field(default_factory=dict)
    users: int = 24


PLAIN = World()


@pytest.fixture
def run(tmp_path, people, scripted_workers, evaluator_on):
    """Evolves the seed by scripted proposals; the last one is repeated."""

    def make(
        *script, world=PLAIN, budget=1000, candidates=10, limits=NO_LIMITS, thrift=SPENDTHRIFT
    ):
        workers = scripted_workers()
        workers.tokens = {SEED.id: 31 * 32}
        workers.lives = world.lives
        workers.right = {SEED.id: good_to(2)}
        for value in range(1, 31):
            policy = SEED.derive(settings={"top_k": value})
            share = world.good.get(value, 2)
            workers.right[policy.id] = share if callable(share) else good_to(share)
        workers.failures = dict(world.fails)
        split = split_by_users(people(world.users, periods=4, questions=8), 0)
        evaluator = evaluator_on(workers, budget)
        proposer = ScriptedProposer(script, tmp_path / "run")
        setup = Setup(
            evaluator,
            Proposals(proposer, Meter(OfflineLM()), evaluator),
            split,
            Plan(budget, 0, (), candidates, 0),
            RunFolder(tmp_path / "run", "run"),
            PlainDisplay(),
            0,
            "digest",
            thrift,
        )
        archive = Archive((Version(SEED, {}),), constraints=limits)
        return Run(Evolution(setup, archive), workers, proposer.contexts)

    return make


def test_better_candidates_become_versions_and_parents(run, tmp_path):
    script = [setting(value) for value in (11, 12, 13, 14)]
    one = run(*script, world=World(good={12: 4, 14: 7}), candidates=2)
    assert one.stages[:4] == ["minibatch", "gate", "minibatch", "gate"]
    assert one.accepted == [10, 12, 14]
    twelve = one.evolution.book.verdicts[1].candidate
    assert [verdict.incumbent for verdict in one.evolution.book.verdicts[:4]] == [
        *(SEED.id, SEED.id, twelve, twelve)
    ]
    lineage = one.evolution.book.archive.versions[2].policy.lineage
    assert (lineage.parents, lineage.generation, lineage.operator) == ((twelve,), 2, "search")
    assert lineage.run == "run"
    files = sorted(path.name for path in (tmp_path / "run" / "policies").iterdir())
    assert [name[:7] for name in files] == ["gen-001", "gen-002"]
    assert read_policy(tmp_path / "run" / "policies" / files[0]).id == twelve
    assert len(list((tmp_path / "run" / "candidates").iterdir())) == 4


def test_candidates_of_one_generation_have_one_parent_and_one_feedback(run):
    one = run(
        setting(11), setting(12), setting(13), setting(14), world=World(good={11: 8}), candidates=2
    )
    first, second, third, *_ = one.contexts
    assert first.parent.id == second.parent.id == SEED.id
    assert first.feedback == second.feedback
    assert first.seed != second.seed
    assert third.parent.settings["top_k"] == 11
    assert third.last_verdict == one.evolution.book.verdicts[1]
    assert [len(context.versions) for context in (first, second, third)] == [1, 1, 2]


def test_equal_to_one_already_judged_costs_nothing(run):
    one = run(setting(11), setting(11), setting(10), Proposal("search"), setting(11))
    assert one.stages[:4] == ["minibatch", "duplicate", "duplicate", "duplicate"]
    assert one.evolution.book.verdicts[1].reason == "equal to a policy proposed already"
    assert len(one.workers.ran) == 2 * 8


def test_too_large_a_memory_costs_nothing(run):
    large = Proposal("search", settings={"top_k": 11, "max_memory_tokens": 3000})
    one = run(large, setting(12), limits=Constraints(memory_tokens=2000))
    assert one.stages[:2] == ["limit", "minibatch"]
    assert one.evolution.book.verdicts[0].reason.startswith(
        "max_memory_tokens 3000 is over the limit"
    )
    assert one.contexts[0].constraints == Constraints(memory_tokens=2000)


def test_a_candidate_may_move_to_another_architecture(run):
    move = Proposal("move:rag", settings={"top_k": 7}, architecture="rag")
    one = run(move, setting(12), setting(13), world=World(good={12: 8}), candidates=1)
    (path,) = (one.evolution._setup.folder.path / "candidates").glob("gen-001.0-*.yaml")
    policy = read_policy(path)
    assert (policy.architecture, policy.name) == ("rag", "rag-gen-001.0")
    assert policy.settings["top_k"] == 7
    assert policy.lineage.parents == (SEED.id,)
    assert one.accepted == [10, 12]


def test_where_the_seed_is_over_a_limit_the_first_that_keeps_it_is_the_parent(run):
    one = run(
        setting(11),
        setting(12),
        setting(13),
        world=World(good={11: 1, 12: 4}),
        candidates=1,
        limits=Constraints(answer_tokens=1),
    )
    first, second = one.evolution.book.verdicts[:2]
    assert (first.stage, first.accepted) == ("tokens", True)
    assert (second.stage, second.accepted, second.incumbent) == ("gate", True, first.candidate)
    assert one.evolution.book.archive.best().policy.settings["top_k"] == 12


def test_what_the_gate_did_not_accept_is_kept_for_the_front(run, people):
    train = {user.id for user in split_by_users(people(24, periods=4, questions=8), 0).train}
    better = {11: lambda user, period, question: question < (4 if user in train else 2)}
    one = run(setting(11), world=World(good=better), candidates=1)
    (seen,) = one.evolution.book.archive.passed_over
    assert (seen.policy.settings["top_k"], seen.incumbent, seen.difference) == (11, SEED.id, 0.0)
    assert seen.tokens == 11 / 32


def test_one_that_is_equal_to_its_neighbour_is_told_after_it(run, capsys):
    one = run(setting(11), setting(11), setting(12))
    assert one.stages[:2] == ["minibatch", "duplicate"]
    assert list(one.evolution.book.judged)[:3] == ["gen-001.0", "gen-001.1", "gen-002.0"]
    assert [context.last_verdict is None for context in one.contexts[:3]] == [True, True, False]


def test_the_second_of_a_generation_must_be_better_than_the_first_if_that_was_accepted(run):
    one = run(
        setting(11), setting(12), setting(13), world=World(good={11: 6, 12: 4, 13: 7}), candidates=2
    )
    first, second = one.evolution.book.verdicts[:2]
    assert (first.stage, first.incumbent) == ("gate", SEED.id)
    assert (second.stage, second.incumbent) == ("minibatch", first.candidate)
    assert second.minibatch_difference == -0.25
    assert one.accepted == [10, 11, 13]


def test_a_proposer_that_repeats_itself_ends_the_run(run):
    one = run(setting(11))
    assert one.stages.count("minibatch") == 1
    assert one.stages.count("duplicate") == FREE_IN_A_ROW + 1
    assert one.evolution.reason == f"none of the last {FREE_IN_A_ROW + 1} proposals could be judged"


def test_a_text_that_breaks_a_rule_is_recorded_with_its_reason(run, tmp_path):
    broken = Proposal("rewrite:memory_types", {"memory_types": "- a: b\n"})
    one = run(RejectedRewriteError("it holds a value", broken), setting(11), setting(11))
    verdict = one.evolution.book.verdicts[0]
    assert (verdict.stage, verdict.reason) == ("text", "it holds a value")
    assert (verdict.operator, verdict.incumbent) == ("rewrite:memory_types", SEED.id)
    (path,) = (tmp_path / "run" / "candidates").glob("gen-001.0-*.yaml")
    kept = read_policy(path)
    assert kept.texts["memory_types"] == "- a: b\n"
    assert kept.scores["reason"] == "it holds a value"


@pytest.mark.parametrize(
    "proposal",
    [
        Proposal("search", settings={"top_k": 99}),
        Proposal("rewrite:write_prompt", {"write_prompt": "Without any placeholder."}),
    ],
)
def test_a_proposal_that_makes_no_policy_is_rejected(run, proposal):
    one = run(proposal, setting(11), setting(11))
    assert one.error is None
    assert (one.evolution.book.verdicts[0].stage, one.evolution.book.verdicts[0].candidate) == (
        "text", SEED.id,
    )  # fmt: skip


def test_the_level_ends_a_run(run, monkeypatch):
    monkeypatch.setattr("evolve.trial.RUN_LEVEL", 1e-15)
    one = run(
        *(setting(value) for value in range(11, 20)), world=World(good={11: 7, 12: 8}), candidates=2
    )
    assert one.evolution.reason == (
        "what 0 candidates at the gate left of the run's level is too little to pass"
    )
    assert one.stages == ["level", "level"]


@pytest.mark.parametrize(
    ("budget", "stages"),
    [
        (8 * 3 + 7, ["minibatch"] * 2),
        (8 * 4 + 5, ["minibatch"] * 3 + ["budget"]),
        (8 * 5, ["minibatch"] * 4),
    ],
)
def test_the_budget_ends_a_run_and_is_never_exceeded(run, budget, stages):
    one = run(*(setting(value) for value in range(11, 30)), budget=budget)
    assert one.stages == stages
    assert one.evolution.reason == (
        "the budget is spent: the next minibatch costs more than is left"
    )
    assert len(one.workers.ran) == budget // 8 * 8
    assert len(one.contexts) == len(stages)


def test_a_new_parent_that_cannot_be_scored_ends_the_run(run):
    budget = 6 * 3 + 8 + 5
    one = run(*(setting(n) for n in (11, 12)), world=World(good={11: 8}, users=54), budget=budget)
    assert one.accepted == [10, 11]
    assert one.evolution.reason == (
        "the budget is spent: the next step costs 6.0 rollouts and 5.0 are left"
    )


def test_feedback_is_kept_for_people(run, tmp_path):
    run(setting(11))
    first = tmp_path / "run" / "feedback" / "gen-001.md"
    assert SEED.id in first.read_text() or SEED.short_id in first.read_text()


def test_a_rejected_candidate_leaves_no_transcript_in_memory(run):
    one = run(setting(11), setting(12), world=World(good={12: 8}), candidates=3)
    kept = {
        key[0]
        for key, scored in one.evolution._setup.evaluator._known.items()
        if scored.rollout.answers
    }
    assert kept == {version.policy.id for version in one.evolution.book.archive.versions}


def test_nothing_to_learn_where_every_rollout_of_the_parent_failed(run, people):
    fails = {(SEED.id, user.id): ("policy", "too long") for user in people(24)}
    one = run(setting(11), world=World(fails=fails))
    assert isinstance(one.error, AllFailedError)
    assert "every rollout of awe-seed failed (too long)" in str(one.error)


def test_feedback_counts_the_rollouts_that_failed(run, people):
    fails = {(SEED.id, user.id): ("policy", "too long") for user in people(24)[::2]}
    one = run(setting(11), world=World(fails=fails))
    assert 0 < one.contexts[0].feedback.numbers["failed_rollouts"] < 8


@pytest.mark.parametrize("lives", range(0, 60, 7))
def test_killed_anywhere_it_goes_on_to_the_same_journal(run, tmp_path, killed, lives):
    script = [setting(value) for value in (11, 12, 11, 14, 15, 16)]
    world, how = World(good={12: 4, 14: 7}), {"candidates": 3, "budget": 90}
    path = tmp_path / "run" / FILE
    whole = run(*script, world=world, **how)
    journal, verdicts = path.read_bytes(), whole.evolution.book.verdicts
    path.unlink()
    first = run(*script, world=replace(world, lives=lives), **how)
    assert isinstance(first.error, killed)
    second = run(*script, world=world, **how)
    assert path.read_bytes() == journal
    assert second.evolution.book.verdicts == verdicts
    assert second.evolution.reason == whole.evolution.reason
    assert first.workers.ran + second.workers.ran == whole.workers.ran


def test_a_screened_generation_sends_the_most_promising_and_one_more_on_policy(run):
    script = [setting(value) for value in (11, 12, 13, 14)]
    one = run(
        *script, world=World(good={13: 7}), candidates=1, budget=60, thrift=Thrift(racing=False)
    )
    assert one.stages[:4] == ["minibatch", "screen", "gate", "screen"]
    assert one.accepted == [10, 13]
    assert one.evolution.screen.heard == 4
    assert one.evolution.screen.seen_both_ways == 2
    heard = [name for name in one.workers.ran if name.endswith(f":{SEED.id}")]
    assert len(heard) == 4 * 3
    screened = [v for v in one.evolution.book.verdicts if v.stage == "screen"]
    assert screened[0].reason == "+0.0000 off-policy"
    assert {verdict.heard_difference for verdict in screened} == {0.0}


@pytest.fixture
def mixed(people):
    """One question more for half of the minibatch, nearly one less for the others."""
    block = split_by_users(people(24, periods=4, questions=8), 0).minibatch(0)
    winners = {user.id for user in block[::2]}

    def right(user, period, question):
        return question < 3 if user in winners else question < 2 - (period > 0)

    return right


def test_a_draft_is_built_on_and_must_be_beaten(run, mixed):
    script = [setting(value) for value in (11, 13, 12, 14)]
    one = run(*script, world=World(good={11: mixed, 12: 5}), budget=120)
    eleven, _, twelve, _ = one.evolution.book.verdicts[:4]
    assert one.stages[:2] == ["chance", "minibatch"]
    assert [context.parent.settings["top_k"] for context in one.contexts[:4]] == [10, 10, 11, 11]
    assert (twelve.accepted, twelve.incumbent) == (True, SEED.id)
    assert one.accepted[:2] == [10, 12]
    assert one.evolution.book.archive.versions[1].policy.lineage.parents == (eleven.candidate,)


def test_what_is_no_better_than_its_draft_is_turned_down(run, mixed):
    script = [setting(value) for value in (11, 13, 12, 14, 15)]
    one = run(*script, world=World(good={11: mixed, 12: mixed}), budget=60)
    twelve = one.evolution.book.verdicts[2]
    assert twelve.stage == "minibatch"
    assert twelve.minibatch_difference > 0
    assert "+0.0000 to the draft" in twelve.reason


def test_a_generation_that_comes_to_nothing_gives_the_next_minibatch_its_turn(run):
    one = run(*(setting(value) for value in range(11, 21)), budget=60)
    field = one.evolution._setup.field
    seen = [name.partition(":")[2] for name in one.workers.ran if name.startswith(SEED.id)]
    assert seen[:16] == [user.id for block in field.minibatches[:2] for user in block]


def test_a_hopeless_candidate_is_stopped_half_way_and_the_rest_is_not_spent(run):
    racing = Thrift(racing=True, screening=False)
    one = run(setting(11), setting(12), world=World(good={11: 0, 12: 1}), budget=30, thrift=racing)
    assert one.stages[:2] == ["minibatch", "minibatch"]
    stopped = one.evolution.book.verdicts[0]
    assert stopped.reason == (
        "mean paired difference -0.2500 on 4 minibatch clusters, which left the whole minibatch "
        "too little chance"
    )
    assert sum(name.startswith(stopped.candidate) for name in one.workers.ran) == 4
