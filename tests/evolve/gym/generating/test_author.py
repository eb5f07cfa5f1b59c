"""Writing one thing: faults are told and mended, and what stays wrong fails with its reason."""

from __future__ import annotations

import pytest

from evolve.gym.generating.author import JUDGED_TRIES, TRIES, Step, UnmendedError
from evolve.gym.generating.kinds import make_kinds
from evolve.lm.json_text import FormatError


def test_what_is_right_at_once_is_asked_once(scripted):
    author, lm = scripted()
    make_kinds(author)
    assert lm.asked == {"states": 1, "objections": 1}


def test_a_fault_is_told_with_the_reply_that_has_it(scripted):
    author, lm = scripted(states=lambda nth, right: right if nth else {"states": []})
    assert len(make_kinds(author)) == author.brief.state_types
    messages = lm.requests["states"][1].messages
    assert messages[-2].content == '{"states": []}'
    assert "- the states must have 6 members, not 0" in messages[-1].content


@pytest.mark.parametrize("said", ["", "no JSON", '{"states": [', "null", '{"other": 1}'])
def test_what_stays_unreadable_fails_with_its_reason(scripted, said):
    author, lm = scripted(states=lambda nth, right: said)
    with pytest.raises(UnmendedError, match=f"states: after {TRIES} tries still wrong: .+"):
        make_kinds(author)
    assert lm.asked == {"states": TRIES}
    seeds = {request.seed for request in lm.requests["states"]}
    assert len(seeds) == TRIES  # or a log of calls would give the same reply again


def test_objections_are_mended_but_never_fail_a_thing(scripted):
    author, lm = scripted(objections=lambda nth, right: {"objections": ["Too dull."]})
    assert make_kinds(author)
    assert lm.asked == {"states": JUDGED_TRIES + 1, "objections": JUDGED_TRIES}
    assert "- Too dull." in lm.told("states")


def test_a_check_that_cannot_be_read_is_asked_again_and_then_counts_as_a_fault(scripted):
    author, lm = scripted(objections=lambda nth, right: right if nth == 2 else "hm")
    assert make_kinds(author)
    assert lm.asked == {"states": 2, "objections": 3}
    assert "what checks it gave no readable reply" in lm.told("states")


def test_the_language_and_the_domain_stand_in_every_request(scripted):
    author, lm = scripted()
    make_kinds(author)
    for request in (one for listed in lm.requests.values() for one in listed):
        assert "travel assistant" in request.messages[0].content
        assert "in English" in request.messages[0].content


def test_writing_varies_and_checking_does_not(scripted):
    author, lm = scripted()
    make_kinds(author)
    (written,), (checked,) = lm.requests["states"], lm.requests["objections"]
    assert (written.task, written.temperature) == ("generate", 1.0)
    assert (checked.task, checked.temperature) == ("check", 0.0)


def test_a_check_raises_what_a_reader_finds(scripted):
    author, _ = scripted(objections=lambda nth, right: {"objections": [""]})
    with pytest.raises(FormatError, match="each objection must be text"):
        author.objections(Step("x", "y", "z", "x"), {}, {}, 0)
