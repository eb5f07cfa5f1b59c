"""Records come back from the journal as they went in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evolve.codec import from_data, to_data
from feedback.records import (
    Answer,
    ChatMessage,
    Compared,
    Context,
    Entry,
    Rollout,
    StateProbe,
    Usage,
    Write,
)

text = st.text(max_size=8)
number = st.integers(0, 5)
ids = st.lists(number, max_size=3).map(tuple)
words = st.lists(text, max_size=3).map(tuple)
contexts = st.builds(Context, ids, words)
probes = st.builds(StateProbe, text, text, st.none() | text, st.booleans(), st.booleans())
told = st.lists(st.tuples(text, text), max_size=2).map(tuple)
rollouts = st.builds(
    Rollout,
    policy=text,
    user=text,
    messages=st.lists(
        st.builds(ChatMessage, text, st.sampled_from(["user", "assistant"]), text, told), max_size=2
    ).map(tuple),
    writes=st.lists(st.builds(Write, number, number, words, ids, st.none() | text), max_size=2).map(
        tuple
    ),
    entries=st.lists(
        st.builds(
            Entry,
            *(number, text, text, words, number, number, number),
            st.none() | number,
            st.none() | text,
        ),
        max_size=2,
    ).map(tuple),
    answers=st.lists(
        st.builds(
            Answer,
            *(number, number, number, number, st.none() | number),
            st.lists(probes, max_size=2).map(tuple),
            contexts,
            contexts,
            text,
            text,
        ),
        max_size=2,
    ).map(tuple),
    usage=st.lists(st.tuples(text, st.builds(Usage, number, number, number)), max_size=2).map(
        tuple
    ),
    memory_tokens=ids,
    failure=st.none() | text,
    failure_kind=st.sampled_from([None, "policy", "outside"]),
    joint=st.none() | st.builds(Compared, number, number),
)


@given(rollouts)
def test_round_trip_through_json(rollout):
    data = json.loads(json.dumps(to_data(rollout)))
    assert from_data(Rollout, data) == rollout


def test_defaults_are_left_out():
    assert to_data(Usage(2)) == {"calls": 2}


@pytest.mark.parametrize("data", [{"calls": "many"}, [], {"calls": 1.5}])
def test_other_data_are_refused(data):
    with pytest.raises(ValidationError):
        from_data(Usage, data)
