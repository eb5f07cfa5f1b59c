"""Gepa as a strategy: its own rules, our ledger, our journal, and the same end after a kill."""

import re

import pytest

from evolve.book import FREE_IN_A_ROW
from evolve.display import PlainDisplay
from evolve.field import split_by_periods, split_by_users
from evolve.folder import RunFolder
from evolve.gepa_adapter import Example
from evolve.gepa_engine import GepaEngine
from evolve.journal import FILE
from evolve.lm.meter import Meter
from evolve.optimize.archive import Archive, Version
from evolve.plan import Plan
from evolve.proposals import Proposals
from evolve.setup import Setup
from policies.errors import ModelError, RunStoppedError
from policies.policy import seed_policy

SEED = seed_policy("awi")
FENCED = re.compile(r"```\n(.*?)\n```", re.DOTALL)


def quality(policy):
    """Questions of eight that a policy answers right: more with every good line, to a limit."""
    return min(8, 2 + sum(text.count("- good") for text in policy.texts.values()))


def longer(request):
    """Gepa's reply: the text that it is to improve, with one good line more."""
    return f"```\n{FENCED.search(request.messages[0].content)[1]}\n- good\n```"


@pytest.fixture
def run(tmp_path, people, scripted_workers, scripted, evaluator_on):
    """Lets gepa evolve the seed with a rewriter that says what a function says."""

    class Judging(scripted_workers):
        def _answer(self, task, period, question):
            self.right[task.policy.id] = lambda u, p, q: q < quality(task.policy)
            return super()._answer(task, period, question)

    def make(say=longer, budget=60, lives=None, fails=None, split=split_by_users):
        workers = Judging()
        workers.lives, workers.failures = lives, fails or {}
        users = people(24, questions=8)
        field = split(users, 0) if split is split_by_users else split(users)
        evaluator = evaluator_on(workers, budget)
        lm = scripted(say)
        setup = Setup(
            evaluator,
            Proposals(None, Meter(lm), evaluator),
            field,
            Plan(budget, 0, (), 1, 0),
            RunFolder(tmp_path / "run", "run"),
            PlainDisplay(),
            0,
            "digest",
        )
        engine = GepaEngine(setup, Archive((Version(SEED, {}),)), Meter(lm))
        engine.workers, engine.lm, engine.field = workers, lm, field
        engine.ledger = evaluator.ledger
        return engine

    return make


def test_it_evolves_by_its_own_rules_on_our_ledger(run, tmp_path, capsys):
    engine = run(budget=60)
    engine.run()
    assert engine.reason.startswith("the budget is spent: the next step costs")
    assert 55 < engine.ledger.spent <= 60
    gate = {user.id for user in engine.field.gate}
    assert engine.workers.ran[:8] == [f"{SEED.id}:{user.id}" for user in engine.field.gate]
    first = engine.book.verdicts[0]
    assert (first.stage, first.accepted, first.minibatch_difference) == ("gate", True, 0.125)
    best = engine.book.archive.best()
    assert quality(best.policy) == max(quality(v.policy) for v in engine.book.archive.versions)
    assert quality(best.policy) > 3
    assert best.gate.keys() == gate
    accepted = sum(verdict.accepted for verdict in engine.book.verdicts)
    assert len(engine.book.archive.versions) == accepted + 1
    assert len(list((tmp_path / "run" / "policies").iterdir())) == accepted
    lineage = best.policy.lineage
    assert lineage.run == "run"
    assert lineage.operator.startswith("gepa:")
    assert lineage.parents[0] in {version.policy.id for version in engine.book.archive.versions}
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "candidates", FILE, "policies",
    ]  # fmt: skip
    printed = capsys.readouterr()
    assert "Iteration" not in printed.out + printed.err


def test_candidates_keep_the_white_space_at_the_ends_of_texts(run):
    engine = run()
    engine.run()
    for version in engine.book.archive.versions:
        for name, text in version.policy.texts.items():
            assert text.endswith("\n") == SEED.texts[name].endswith("\n")


def test_the_model_is_told_what_the_text_is_for_and_what_went_wrong(run):
    engine = run()
    engine.run()
    asked = [request.messages[0].content for request in engine.lm.asked("rewrite")]
    assert "memory_types: the types of information" in asked[0]
    assert "memory_types" not in asked[3]
    assert "answer_prompt: how the assistant answers" in asked[3]
    assert "### drink: 12 of 32 answers wrong" in asked[3]


def test_texts_that_make_no_policy_cost_nothing_and_end_the_run(run):
    engine = run(lambda request: "```\nno {{placeholder}} of ours\n```", budget=1000)
    engine.run()
    assert engine.reason.startswith("none of the last")
    assert {verdict.stage for verdict in engine.book.verdicts} == {"text"}
    assert len(engine.book.verdicts) >= FREE_IN_A_ROW
    assert len(engine.workers.ran) == 16  # the seed, on gate and train users


def test_what_the_rewriter_raises_ends_the_run(run):
    def fail(request):
        raise ModelError("a wrong key")

    engine = run(fail)
    with pytest.raises(ModelError, match="a wrong key"):
        engine.run()
    assert len(engine.lm.requests) == 1  # gepa would try once more


def test_a_stop_passes_through(run):
    engine = run()
    engine._setup.evaluator.stopping = lambda: len(engine.workers.ran) > 9
    with pytest.raises(RunStoppedError):
        engine.run()


def test_failures_of_a_policy_count_as_0_and_those_from_outside_as_the_others(run, people):
    first, second, *_ = run().field.gate
    engine = run(
        fails={
            (SEED.id, first.id): ("outside", "timeout"),
            (SEED.id, second.id): ("policy", "too long"),
        }
    )
    examples = [Example(user, "gate") for user in engine.field.gate]
    scored = engine._adapter.evaluate(examples, dict(SEED.texts), capture_traces=True)
    assert scored.scores == [0.25 * 6 / 7, 0.0, *[0.25] * 6]
    said = engine._adapter.make_reflective_dataset({}, scored, ["answer_prompt"])["answer_prompt"]
    assert said[1]["Feedback"] == "The assistant failed: too long"


def test_under_a_split_by_time_it_learns_from_early_periods(run):
    engine = run(budget=100, split=split_by_periods)
    engine.run()
    assert len(engine.book.archive.versions) > 1
    assert len(engine.book.archive.best().gate) == 24 * 8  # users' questions


@pytest.mark.parametrize("lives", [0, 8, 13, 30, 50])
def test_killed_anywhere_it_goes_on_to_the_same_journal(run, tmp_path, killed, lives):
    path = tmp_path / "run" / FILE
    whole = run()
    whole.run()
    journal = path.read_bytes()
    path.unlink()
    first = run(lives=lives)
    with pytest.raises(killed):
        first.run()
    second = run()
    second.run()
    assert path.read_bytes() == journal
    assert (second.book.verdicts, second.reason) == (whole.book.verdicts, whole.reason)
    assert second.book.archive == whole.book.archive
    assert first.workers.ran + second.workers.ran == whole.workers.ran
    assert len(first.lm.requests + second.lm.requests) == len(whole.lm.requests)


def test_a_text_that_is_proposed_again_is_measured_once(run):
    engine = run(say=lambda _: "```\n- other\n```")
    engine.run()
    turned_down = [verdict for verdict in engine.book.verdicts if verdict.stage == "minibatch"]
    assert len({verdict.candidate for verdict in turned_down}) == 1 < len(turned_down)
    (tokens,) = {verdict.tokens_per_answer for verdict in turned_down}
    assert tokens is not None
