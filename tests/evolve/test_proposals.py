"""Each proposal is asked for once, and its cost is counted with it."""

import pytest

from evolve.lm.base import Completion, Message, Request
from evolve.lm.meter import Meter
from evolve.optimize.base import Proposal, ProposalContext, RejectedRewriteError, Verdict
from evolve.proposals import Proposals
from feedback.digest import Feedback
from feedback.records import Usage
from policies.policy import seed_policy

SEED = seed_policy("awe")
CONTEXT = ProposalContext(SEED, (SEED,), Feedback(SEED.id, {}, (), {}, {}, ""), None, 7)


class Echo:
    name = "echo"

    def complete(self, request):
        return Completion("text", 10, 2)


class Scripted:
    """Proposes in order, after one call each."""

    def __init__(self, lm, *proposals):
        self.lm, self.proposals, self.observed = lm, list(proposals), []

    def propose(self, context):
        assert context == CONTEXT
        self.lm.complete(Request("rewrite", (Message("user", "?"),)))
        proposal = self.proposals.pop(0)
        if isinstance(proposal, Exception):
            raise proposal
        return proposal

    def observe(self, verdict):
        self.observed.append(verdict)


@pytest.fixture
def proposals(evaluator_on, scripted_workers):
    def make(*scripted):
        lm = Meter(Echo())
        return Proposals(Scripted(lm, *scripted), lm, evaluator_on(scripted_workers()))

    return make


def test_a_resumed_run_is_handed_the_same_without_asking(proposals):
    merged = Proposal("merge:memory_types", {"memory_types": "- a: b"}, {"top_k": 5}, "abc")
    broken = Proposal("rewrite:write_prompt", {"write_prompt": "no placeholders"})
    first = proposals(merged, RejectedRewriteError("it lost a placeholder", broken))
    asked = [first.ask("gen-001.0", CONTEXT), first.ask("gen-001.1", CONTEXT)]
    assert asked == [(merged, None), (broken, "it lost a placeholder")]
    spent = first._evaluator.usage
    assert spent == (("rewrite", Usage(2, 20, 4)),)
    again = proposals(Proposal("search", settings={"top_k": 9}))
    assert [again.ask("gen-001.0", CONTEXT), again.ask("gen-001.1", CONTEXT)] == asked
    assert again._evaluator.usage == spent
    assert again.ask("gen-002.0", CONTEXT)[0].settings == {"top_k": 9}
    assert again._evaluator.usage == (("rewrite", Usage(3, 30, 6)),)


def test_what_fails_outside_is_not_journaled_and_asked_again(proposals):
    with pytest.raises(ConnectionError):
        proposals(ConnectionError("down")).ask("gen-001.0", CONTEXT)
    assert proposals(Proposal("search")).ask("gen-001.0", CONTEXT) == (Proposal("search"), None)


def test_verdicts_reach_the_proposer(proposals):
    one = proposals()
    verdict = Verdict(SEED.id, SEED.id, {}, "search", False, "gate", "why")
    one.observe(verdict)
    assert one._proposer.observed == [verdict]


@pytest.mark.parametrize("asks", [True, False])
def test_a_mirror_is_told_every_verdict_whether_there_is_a_proposer_or_not(
    asks, evaluator_on, scripted_workers
):
    lm, mirror = Meter(Echo()), Scripted(None)
    proposer = Scripted(lm) if asks else None
    Proposals(proposer, lm, evaluator_on(scripted_workers()), mirror).observe("a verdict")
    assert mirror.observed == ["a verdict"]
    assert proposer is None or proposer.observed == ["a verdict"]
