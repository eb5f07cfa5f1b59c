"""The stand-in's side of gepa: it reads gepa's prompt and answers in gepa's format."""

from gepa.proposer.reflective_mutation.reflection_lm import StatelessReflectionLM

from evolve.gepa_adapter import reflect
from evolve.lm.base import Message, Request
from evolve.lm.offline import OfflineLM
from evolve.lm.offline_reflect import asks
from evolve.lm.typical import TypicalLM
from policies.policy import seed_policy

SEED = seed_policy("awi")


def proposed(lm, name, *said):
    records = [{"Inputs": f"{name}: what it is for", "Feedback": text} for text in said]
    asked = StatelessReflectionLM(lambda prompt: reflect(lm, prompt, 1))
    return asked.reflect(dict(SEED.texts), {name: records}, [name])[0].new_texts[name]


def test_failing_types_of_all_examples_are_added_worst_first():
    one = "### diet_style: 2 of 8 answers wrong (unwritten 2)\n- said in period 1"
    two = "### pet_kind: 3 of 8 answers wrong (unwritten 3)\n### diet_style: 2 of 8 answers wrong"
    lines = proposed(OfflineLM(), "memory_types", one, two).split("\n")
    assert lines[-2:] == ["- diet style", "- pet kind"]


def test_other_texts_keep_their_placeholders():
    said = "### diet_style: 2 of 8 answers wrong (unsaid 2)"
    new = proposed(OfflineLM(), "reply_prompt", said)
    assert "diet style" in new
    assert "{{memories}}" in new


def test_rewrites_asked_for_in_another_form_are_none_of_gepas():
    request = Request("rewrite", (Message("user", "[[ ## current_text ## ]]\n- pets"),), 0)
    assert not asks(request)


def test_the_typical_model_writes_in_fences_where_it_is_asked_so():
    new = proposed(TypicalLM(), "memory_types", "### diet_style: 2 of 8 answers wrong")
    assert new.startswith(SEED.texts["memory_types"].strip())
    assert len(new) > len(SEED.texts["memory_types"])
