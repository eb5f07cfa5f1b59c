"""A model that sets settings: what it is shown, how it is read, and when chance helps out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from evolve.lm.offline import OfflineLM
from evolve.lm.typical import TypicalLM
from evolve.optimize.base import Proposal, RejectedRewriteError
from evolve.optimize.constraints import Constraints
from evolve.optimize.diagnose_and_set import (
    DIAGNOSE,
    EXPLORE,
    STAGNATION,
    DiagnoseProposer,
    read_settings,
)
from policies.errors import OutsideFailureError, RejectedTextError
from policies.policy import seed_policy
from policies.settings import applicable

AWE = seed_policy("awe")
SETTINGS = applicable("awe")


def reply(settings: str) -> str:
    return (
        "[[ ## root_causes ## ]]\nToo much in one write.\n\n"
        f"[[ ## new_settings ## ]]\n{settings}\n\n[[ ## completed ## ]]"
    )


def test_the_model_sees_settings_log_and_history(scripted, context_for, verdict_on) -> None:
    lm = scripted([reply('{"top_k": 20, "supersede": true}')])
    proposer = DiagnoseProposer(lm)
    tried = AWE.derive(settings={"top_k": 50})
    proposer.observe(verdict_on(tried, AWE, DIAGNOSE, -0.1, reason="worse by 0.1"))
    proposer.observe(verdict_on(AWE, AWE, DIAGNOSE, None, stage="text", reason="no JSON object"))
    context = context_for(AWE)
    made = proposer.propose(replace(context, constraints=Constraints(answer_tokens=1500)))
    assert made == Proposal(DIAGNOSE, settings={"top_k": 20, "supersede": True})
    asked = lm.requests[0].messages[-1].content
    for line in (
        "- top_k: 10; must be a whole number from 1 to 50; entries retrieved\n",
        "- recency_half_life: null; must be a whole number from 1 to 32, or null; ",
        "An answer may take 1500 tokens at most",
        "- top_k 50: not kept (minibatch), worse by 0.1\n",
        "- the present settings: not kept (text), no JSON object\n",
        context.feedback.markdown,
    ):
        assert line in asked
    assert lm.requests[0].task == "rewrite"


@pytest.mark.parametrize(
    ("said", "settings"),
    [
        ('{"top_k": 20}', {"top_k": 20}),
        ('{"top_k": "20", "write_every": 8.0}', {"top_k": 20, "write_every": 8}),
        ('```json\n{"supersede": "True"}\n``` as old values stood', {"supersede": True}),
        ('{"retriever": "BM25", "memory_order": "Time"}', {"memory_order": "time"}),
        ('{"recency_half_life": 4, "top_k": 10}', {"recency_half_life": 4}),
    ],
)
def test_settings_are_read_as_models_write_them(said, settings) -> None:
    assert read_settings(said, SETTINGS, AWE.settings) == settings


@pytest.mark.parametrize("said", ["null", '"off"', '"Never"'])
def test_a_number_can_be_unset(said) -> None:
    own = {**AWE.settings, "recency_half_life": 8}
    found = read_settings(f'{{"recency_half_life": {said}}}', SETTINGS, own)
    assert found == {"recency_half_life": None}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "are no JSON object"),
        ("more of everything", "are no JSON object"),
        ('[{"top_k": 20}]', "are no JSON object"),
        ('{"top_k": 20', "could not be read: .* cut off"),
        ('{"top_p": 1}', "there is no setting 'top_p' here"),
        ('{"top_k": 80}', "setting top_k must be a whole number from 1 to 50, not 80"),
        ('{"top_k": null}', "top_k must be a whole number from 1 to 50, not None"),
        ('{"top_k": true}', "not True"),
        ('{"top_k": [20]}', r"not \[20\]"),
        ('{"top_k": 20.5}', "not 20.5"),
        ('{"supersede": 1}', "supersede must be one of false, true, not 1"),
        ('{"retriever": "faiss"}', "one of bm25, ngram, hybrid, not 'faiss'"),
        ('{"top_k": 10}', "are those of the present policy"),
        ("{}", "are those of the present policy"),
    ],
)
def test_what_is_not_allowed_is_refused(said, reason) -> None:
    with pytest.raises(RejectedTextError, match=reason):
        read_settings(said, SETTINGS, AWE.settings)


def test_rejections_name_the_operator(scripted, context_for) -> None:
    for replies, reason in (
        (["no", "no"], "no root_causes and new_settings that can be read"),
        ([reply("none")], "no JSON object"),
    ):
        with pytest.raises(RejectedRewriteError, match=reason) as caught:
            DiagnoseProposer(scripted(replies)).propose(context_for(AWE))
        assert caught.value.proposal == Proposal(DIAGNOSE)


def test_the_models_errors_pass(scripted, context_for) -> None:
    lm = scripted([OutsideFailureError("no route")])
    with pytest.raises(OutsideFailureError, match="no route"):
        DiagnoseProposer(lm).propose(context_for(AWE))


def test_chance_proposes_where_nothing_was_gained_for_a_while(
    scripted, context_for, verdict_on
) -> None:
    proposer = DiagnoseProposer(scripted([]))
    for _ in range(STAGNATION):
        proposer.observe(verdict_on(AWE, AWE, DIAGNOSE, -0.1))
    made = [proposer.propose(context_for(AWE, seed)) for seed in range(8)]
    assert {one.operator for one in made} == {EXPLORE}
    assert len({tuple(one.settings.items()) for one in made}) > 4


@pytest.mark.parametrize("operator", [DIAGNOSE, EXPLORE])
def test_the_model_is_asked_again_after_that(operator, scripted, context_for, verdict_on) -> None:
    proposer = DiagnoseProposer(scripted([reply('{"top_k": 20}')]))
    for _ in range(STAGNATION - 1):
        proposer.observe(verdict_on(AWE, AWE, DIAGNOSE, -0.1))
    accepted = operator == DIAGNOSE
    proposer.observe(verdict_on(AWE, AWE, operator, 0.1, accepted=accepted, stage="gate"))
    assert proposer.propose(context_for(AWE)).operator == DIAGNOSE


def test_without_settings_nothing_is_asked(scripted, context_for) -> None:
    proposer = DiagnoseProposer(scripted([]))
    assert proposer.propose(context_for(seed_policy("none"))) == Proposal(DIAGNOSE)


@pytest.mark.parametrize("lm", [OfflineLM(), TypicalLM()], ids=lambda lm: lm.name)
def test_stand_ins_reply_in_the_format(lm, context_for) -> None:
    found = []
    for seed in range(12):
        with suppress(RejectedRewriteError):  # chance may hit the present value
            found.append(DiagnoseProposer(lm).propose(context_for(AWE, seed)).settings)
    assert len(found) > 6
    assert len({name for one in found for name in one}) > 2
