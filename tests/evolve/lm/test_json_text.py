"""JSON found in replies, and what of a reply is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.lm.json_text import FormatError, json_value, objects_in, spoken


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", ""),
        (" a \n", "a"),
        ("<think>x</think> a", "a"),
        ("<Think>x\n</tHINK>a <thinking>y</thinking>b", "a b"),
        ("x</think>a", "a"),
        ("a<think>x", "a"),
        ("<think>x", ""),
        ("<think><think>x</think>a", "a"),
        ("<think>x</think>y</think>a", "a"),
        ("a<think>x</think>b</think>c", "c"),
        ("a < b <thinks> c", "a < b <thinks> c"),
    ],
)
def test_thinking_is_not_said(reply, said):
    assert spoken(reply) == said


@given(st.text(alphabet="ab </>"), st.text(alphabet="ab </>"))
def test_what_follows_the_thinking_is_said_as_it_is(thought, words):
    assert spoken(f"<think>{thought}</think>{words}") == words.strip()


def test_a_value_that_is_null_is_a_value():
    assert json_value("null") == (None,)
    assert json_value("nul") is None
    assert json_value("[" * 100_000) is None


@pytest.mark.parametrize(
    ("reply", "objects"),
    [
        ("no", []),
        ("[]", []),
        ('[{"a": 1}]', []),
        ("{}", [{}]),
        ("{ }", [{}]),
        ("a { } b", [{}]),
        ("{...}", []),
        ("{words in braces}", []),
        ('{"a": {"b": "}"}} {c: 2,}', [{"a": {"b": "}"}}, {"c": 2}]),
        ("It's {'a': 'it's'}", [{"a": "it's'"}]),
        ('{"a": "\\"}"} x', [{"a": '"}'}]),
        ("[1] says {'a': [1, 2]}", [{"a": [1, 2]}]),
    ],
)
def test_objects(reply, objects):
    assert objects_in(reply) == objects


@pytest.mark.parametrize("reply", ["{", '{"a": "}', '{"a": 1} {', "x [ {}", '{"a": {"b": 1}'])
def test_objects_that_are_cut_off_or_listed(reply):
    with pytest.raises(FormatError):
        objects_in(reply)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        ("{'a': 'b — 5%', }", True),
        (r"{'a': 'x\ty \\ \u00e9\'', b: 2.5}", True),
        ("{“a”: “b”}", True),
        ("{'a': −1}", False),
        ("{'a': 1 2}", False),
        ("{'a': 'b', 'c'}", False),
        ("{'a': 1 /* c */}", False),
        ("{'a': 'b', 'a': 'c'}", False),
    ],
)
def test_a_repair_leaves_nothing_out(found, kept):
    if kept:
        assert len(objects_in(f"So: {found}.")) == 1
    else:
        with pytest.raises(FormatError, match="a part that cannot be read"):
            objects_in(f"So: {found}.")


def test_long_replies_are_searched_but_not_repaired():
    prose = "word " * 10_000
    assert objects_in(prose + '{"a": "b"}' + prose) == [{"a": "b"}]
    with pytest.raises(FormatError, match="over 8000 characters"):
        objects_in(prose + "{'a': 'b'}")
