"""The proposer of self-evolution: one text, and no rules of ours."""

import pytest

from evolve.optimize.base import RejectedRewriteError
from evolve.optimize.types_proposer import TypesProposer
from policies.policy import seed_policy

SEED = seed_policy("awi")


def reply(text):
    return f"[[ ## new_text ## ]]\n{text}\n\n[[ ## completed ## ]]"


def test_whatever_the_model_writes_is_the_new_list(scripted, context_for):
    copied = "- deep sea diving, and which of the seven little boats should I take out today"
    lm = scripted([reply(copied)])
    proposal = TypesProposer(lm).propose(context_for(SEED))
    assert proposal.texts == {"memory_types": f"{copied}\n"}
    assert proposal.settings == {}
    (request,) = lm.requests
    assert "### diet_style: 20 of 40 answers wrong" in request.messages[-1].content


def test_a_reply_that_cannot_be_read_is_rejected(scripted, context_for):
    with pytest.raises(RejectedRewriteError, match="no new_text"):
        TypesProposer(scripted(["no", "no"])).propose(context_for(SEED))
