"""Self-evolution: the list is rewritten and installed at once, and the last one is the best."""

import pytest

from evolve.book import FREE_IN_A_ROW
from evolve.display import PlainDisplay
from evolve.field import split_by_users
from evolve.folder import RunFolder
from evolve.journal import FILE
from evolve.lm.meter import Meter
from evolve.lm.offline import OfflineLM
from evolve.optimize.archive import Archive, Version
from evolve.optimize.base import Proposal, RejectedRewriteError
from evolve.plan import Plan
from evolve.proposals import Proposals
from evolve.self_evolution import SelfEvolution
from evolve.setup import Setup
from policies.errors import AllFailedError
from policies.policy import seed_policy

SEED = seed_policy("awi")


def types(text):
    return Proposal("self-evolution:memory_types", {"memory_types": text})


def installed(engine):
    return [v.policy.texts["memory_types"].strip() for v in engine.book.archive.versions[1:]]


@pytest.fixture
def run(tmp_path, people, scripted_workers, evaluator_on):
    """Evolves the seed by what a function of the generation proposes."""

    def make(script, budget=40, lives=None, fails=None):
        workers = scripted_workers()
        workers.lives, workers.failures = lives, fails or {}
        evaluator = evaluator_on(workers, budget)

        class Scripted:
            def propose(self, context):
                proposal = script(context)
                if isinstance(proposal, Exception):
                    raise proposal
                return proposal

            def observe(self, verdict):
                pass

        setup = Setup(
            evaluator,
            Proposals(Scripted(), Meter(OfflineLM()), evaluator),
            split_by_users(people(24), 0),
            Plan(budget, 0, (), 1, 0),
            RunFolder(tmp_path / "run", "run"),
            PlainDisplay(),
            0,
            "digest",
        )
        engine = SelfEvolution(setup, Archive((Version(SEED, {}),)))
        return engine, workers

    return make


def longer(context):
    return types(context.parent.texts["memory_types"] + "- more")


def test_every_rewrite_is_installed_and_the_last_is_the_best(run, tmp_path):
    engine, workers = run(longer, budget=40)
    engine.run()
    assert [verdict.stage for verdict in engine.book.verdicts] == ["installed"] * 5
    assert all(verdict.accepted for verdict in engine.book.verdicts)
    best = engine.book.archive.best().policy
    assert best is engine.book.archive.versions[-1].policy
    assert best.texts["memory_types"].count("- more") == 5
    assert best.lineage.operator == "self-evolution:memory_types"
    assert len(workers.ran) == 40  # a block of eight users a generation, and no gate user
    assert engine.reason.startswith("the budget is spent")
    assert len(list((tmp_path / "run" / "policies").iterdir())) == 5
    assert len(list((tmp_path / "run" / "candidates").iterdir())) == 5


def test_what_is_no_policy_or_nothing_new_is_not_installed(run):
    script = [
        types("- one"),
        RejectedRewriteError("unreadable", types("")),
        types(" \n"),
        types("- {{memories}}"),
        types("- one"),
        types("- two"),
    ]
    engine, _ = run(lambda context: script.pop(0), budget=1000)
    with pytest.raises(IndexError):
        engine.run()
    stages = [verdict.stage for verdict in engine.book.verdicts]
    assert stages == ["installed", "text", "text", "text", "duplicate", "installed"]
    assert installed(engine) == ["- one", "- two"]


def test_a_list_that_comes_back_is_installed_again(run):
    script = [types("- one"), types("- two"), types("- one")]
    engine, _ = run(lambda context: script.pop(0), budget=1000)
    with pytest.raises(IndexError):
        engine.run()
    assert installed(engine) == ["- one", "- two"]
    assert engine.book.archive.best().policy.texts["memory_types"].strip() == "- one"


def test_rewrites_that_come_to_nothing_end_the_run(run):
    engine, _ = run(lambda context: types(context.parent.texts["memory_types"]), budget=1000)
    engine.run()
    assert len(engine.book.verdicts) == FREE_IN_A_ROW
    assert engine.book.archive.best().policy == SEED


@pytest.fixture
def failing(people):
    """A policy's own failures, of everybody."""
    return lambda policy: {(policy.id, u.id): ("policy", "too long") for u in people(24)}


def test_a_policy_that_fails_for_everybody_ends_the_run(run, failing):
    new = SEED.derive(texts={"memory_types": "- one\n"})
    engine, _ = run(lambda context: types("- one"), fails=failing(new))
    engine.run()
    assert engine.reason == "every rollout of the installed policy failed: too long"
    assert engine.book.archive.best().policy.id == new.id


def test_nothing_can_be_learned_from_a_seed_that_fails_for_everybody(run, failing):
    engine, _ = run(longer, fails=failing(SEED))
    with pytest.raises(AllFailedError, match="too long"):
        engine.run()


@pytest.mark.parametrize("lives", [0, 5, 19, 38])
def test_killed_anywhere_it_goes_on_to_the_same_journal(run, tmp_path, killed, lives):
    path = tmp_path / "run" / FILE
    whole, _ = run(longer)
    whole.run()
    journal = path.read_bytes()
    path.unlink()
    first, before = run(longer, lives=lives)
    with pytest.raises(killed):
        first.run()
    second, after = run(longer)
    second.run()
    assert path.read_bytes() == journal
    assert (second.book.verdicts, second.reason) == (whole.book.verdicts, whole.reason)
    assert len(before.ran + after.ran) == 40
