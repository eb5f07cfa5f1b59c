"""The proposer of texts: what it asks, what it takes, what it turns down."""

from __future__ import annotations

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import Proposal, RejectedRewriteError
from evolve.optimize.credit import parts_of
from evolve.optimize.rewrite import RewriteProposer, text_of
from policies.errors import OutsideFailureError, RejectedTextError
from policies.policy import seed_policy

AWE = seed_policy("awe")
ONLY = {name: {name: 1.0} for name in AWE.texts}
ASK = "Answer with one JSON object, or {}.\n{{memory_types}}\n{{memories}}\n{{conversation}}"


def reply(text: str) -> str:
    return f"[[ ## new_text ## ]]\n{text}\n\n[[ ## completed ## ]]"


@pytest.fixture
def propose(scripted, rules, context_for):
    """Proposes a change of one text of the awe seed from scripted replies."""

    def run(*replies: str | Exception, part: str = "memory_types") -> Proposal:
        context = context_for(AWE, seed=1, mass=ONLY[part])
        return RewriteProposer(scripted(list(replies)), rules).propose(context)

    return run


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("rewrite:memory_types+search", "memory_types"),
        ("merge:reply_prompt", "reply_prompt"),
        ("placebo:merge:memory_types+search", "memory_types"),
        ("placebo:search", None),
        ("search", None),
        ("rewrite", None),
        ("seed", None),
    ],
)
def test_text_of_an_operator(operator, name) -> None:
    assert text_of(operator) == name


def test_asks_with_purpose_rules_text_and_feedback(scripted, rules, context_for) -> None:
    lm = scripted([reply("Be kind.\n{{memories}}")])
    made = RewriteProposer(lm, rules).propose(context_for(AWE, mass=ONLY["reply_prompt"]))
    assert made == Proposal("rewrite:reply_prompt", {"reply_prompt": "Be kind.\n{{memories}}\n"})
    asked = lm.requests[0].messages[-1].content
    assert "[[ ## purpose ## ]]\nreply_prompt: the instructions by which" in asked
    assert "Keep each of the placeholders {{memories}}, and add no others." in asked
    longest = 8 * -(-len(AWE.texts["reply_prompt"].encode()) // 4)
    assert f"At most {longest} characters" in asked
    assert AWE.texts["reply_prompt"].strip() in asked
    assert "### diet_style: 20 of 40 answers wrong" in asked


@pytest.mark.parametrize(
    ("replies", "part", "reason"),
    [
        ([reply("null")], "memory_types", "empty or null"),
        ([reply("")], "memory_types", "empty or null"),
        (["", '{"new_text": null}'], "memory_types", "empty or null"),
        ([reply(AWE.texts["memory_types"])], "memory_types", "the same as its parent"),
        ([reply("Be kind.")], "reply_prompt", "drops the placeholder {{memories}}"),
        ([reply("{{memories}} {{mood}}")], "reply_prompt", "invents the placeholder {{mood}}"),
        (["Sure!", "I cannot."], "memory_types", "no new_text that can be read"),
        (["Sure!", '{"new_text": ["- tea"]}'], "memory_types", "a list or an object, not text"),
        ([reply('{"tea": "milk"}')], "memory_types", "a list or an object, not text"),
        ([reply("- likes deep-sea diving")], "memory_types", "holds the value 'deep sea diving'"),
        (
            [reply("- the seven little boats should I")],
            "memory_types",
            "copies 'the seven little boats should i'",
        ),
        ([reply("- tea\n" * 1500)], "memory_types", "more than 2000"),
        ([reply("- tea\n" * 300)], "memory_types", "more than twice the"),
        (
            [reply("请记下用户告诉你的重要事情，以及他们的计划。\n{{memories}}")],
            "reply_prompt",
            "mostly Chinese and its parent Latin",
        ),
        ([reply("Be kind.\n{memories}")], "reply_prompt", "drops the placeholder {{memories}}"),
        ([reply("{{memories}} {memories}")], "reply_prompt", "has '{memories}', which is no"),
        ([reply("{{memories}} {{ mood }}")], "reply_prompt", "has '{{ mood }}', which is no"),
        ([reply("{{memories}} {{mood")], "reply_prompt", "has '{{mood', which is no"),
        ([reply("Write down what the user likes.")], "memory_types", "has no bullets"),
        ([reply(ASK.replace("JSON", "plain"))], "write_prompt", "no longer asks for a JSON object"),
        ([reply(ASK.replace("{}", ""))], "write_prompt", "no longer asks for a JSON object"),
        ([reply(ASK.replace("{}", "{{}}"))], "write_prompt", "has '{{}}', which is no placeholder"),
    ],
)
def test_rejects_with_the_reason_and_what_was_proposed(propose, replies, part, reason) -> None:
    with pytest.raises(RejectedTextError) as caught:
        propose(*replies, part=part)
    assert reason in str(caught.value)
    assert isinstance(caught.value, RejectedRewriteError)
    assert caught.value.proposal.operator == f"rewrite:{part}"


def test_a_rejected_text_is_kept_with_its_reason(propose) -> None:
    with pytest.raises(RejectedRewriteError) as caught:
        propose(reply("Be kind."), part="reply_prompt")
    assert caught.value.proposal.texts == {"reply_prompt": "Be kind.\n"}


def test_takes_json_from_models_that_answer_in_it(propose) -> None:
    made = propose("Here you go!", '{"new_text": "- tea\\n- milk"}')
    assert made.texts == {"memory_types": "- tea\n- milk\n"}


def test_takes_a_text_that_asks_for_the_same_in_other_words(propose) -> None:
    assert propose(reply(ASK), part="write_prompt").texts == {"write_prompt": ASK + "\n"}


@pytest.mark.parametrize("odd", ["{memories}", "{{ mood }}"])
def test_braces_of_the_parent_may_stay_and_bullets_of_a_prompt_may_go(
    scripted, rules, context_for, odd
) -> None:
    parent = AWE.derive({"reply_prompt": f"- Be kind, as in {odd}.\n{{{{memories}}}}"})
    new = f"Be kind and brief, as in {odd}.\n{{{{memories}}}}"
    context = context_for(parent, mass=ONLY["reply_prompt"])
    made = RewriteProposer(scripted([reply(new)]), rules).propose(context)
    assert made.texts == {"reply_prompt": new}


def test_only_a_text_with_a_form_is_told_to_keep_it(scripted, rules, context_for) -> None:
    told = set()
    for part, mass in ONLY.items():
        lm = scripted([OutsideFailureError("down")])
        with pytest.raises(OutsideFailureError):
            RewriteProposer(lm, rules).propose(context_for(AWE, mass=mass))
        if "- Keep asking for a JSON object" in lm.requests[0].messages[-1].content:
            told.add(part)
    assert told == {"write_prompt"}


def test_a_models_failure_is_no_rejection(propose) -> None:
    with pytest.raises(OutsideFailureError, match="no route"):
        propose(OutsideFailureError("no route"))


def test_draws_texts_by_their_credit(rules, context_for, verdict_on) -> None:
    proposer = RewriteProposer(OfflineLM(), rules)
    mass = {"memory_types": 0.6, "answer_prompt": 0.4}
    for _ in range(4):
        proposer.observe(verdict_on(AWE, AWE, "rewrite:answer_prompt"))
    shares = proposer.credit.shares({**dict.fromkeys(AWE.texts, 0.0), **mass})
    made = [proposer.propose(context_for(AWE, seed, mass=mass)).operator for seed in range(200)]
    drawn = [parts_of(operator)[0] for operator in made]
    assert 0.7 < shares["memory_types"] < 0.85
    for name, share in shares.items():
        assert drawn.count(name) / 200 == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize("stage", ["text", "duplicate"])
def test_passes_over_a_text_that_came_to_nothing(stage, rules, context_for, verdict_on) -> None:
    proposer = RewriteProposer(OfflineLM(), rules)
    mass = {"memory_types": 0.9, "reply_prompt": 0.1}
    proposer.observe(verdict_on(AWE, AWE, "rewrite:memory_types+search", None, stage=stage))
    made = [proposer.propose(context_for(AWE, seed, mass=mass)) for seed in range(5)]
    assert {m.operator for m in made} == {"rewrite:reply_prompt"}
    proposer.observe(verdict_on(AWE, AWE, "rewrite:reply_prompt"))
    assert proposer.propose(context_for(AWE, 0, mass=mass)).operator == "rewrite:memory_types"


def test_starts_over_when_every_text_came_to_nothing(rules, context_for, verdict_on) -> None:
    proposer = RewriteProposer(OfflineLM(), rules)
    for name in AWE.texts:
        proposer.observe(verdict_on(AWE, AWE, f"rewrite:{name}", None, stage="text"))
    made = proposer.propose(context_for(AWE, mass=ONLY["memory_types"]))
    assert made.operator == "rewrite:memory_types"


def test_says_why_the_last_attempt_was_not_kept(scripted, rules, context_for, verdict_on) -> None:
    last = verdict_on(AWE, AWE, "rewrite:reply_prompt", None, stage="text", reason="too long")
    asked = []
    for part in ("reply_prompt", "memory_types"):
        lm = scripted([reply("- tea {{memories}}" if part == "reply_prompt" else "- tea")])
        RewriteProposer(lm, rules).propose(context_for(AWE, mass=ONLY[part], last=last))
        asked.append("was not kept: too long" in lm.requests[0].messages[-1].content)
    assert asked == [True, False]
