from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import PolicyFileError
from policies.policy import ARCHITECTURES
from policies.settings import SETTINGS, SettingValue, applicable, as_text, check

BY_NAME = {setting.name: setting for setting in SETTINGS}


def test_the_table_of_the_design() -> None:
    applies = {name: set(setting.architectures) for name, setting in BY_NAME.items()}
    assert applies == {
        "write_every": {"rag", "awe", "awi", "mem0"},
        "local_window": {"rag", "awe", "awi", "mem0"},
        "top_k": {"rag", "awe", "mem0"},
        "retriever": {"rag", "awe"},
        "recency_half_life": {"rag", "awe"},
        "granularity": {"rag"},
        "supersede": {"awe"},
        "memory_order": {"rag", "awe"},
        "max_memory_tokens": {"rag", "awe", "awi"},
        "threshold": {"mem0"},
        "infer": {"mem0"},
        "context_tokens": {"native"},
    }
    assert {name: setting.default for name, setting in BY_NAME.items()} == {
        "write_every": 2,
        "local_window": 4,
        "top_k": 30,
        "retriever": "bm25",
        "recency_half_life": None,
        "granularity": "message",
        "supersede": False,
        "memory_order": "time",
        "max_memory_tokens": 2000,
        "threshold": 10,
        "infer": True,
        "context_tokens": 8000,
    }


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("write_every", [2, 4, 8], [0, 1, 3, 16, "2", 2.0, None, True]),
        ("local_window", [0, 2, 16], [-2, 1, 17, 18, 4.0, "4", None, False]),
        ("top_k", [1, 50], [0, 51, True, 10.0, "10", None]),
        ("retriever", ["bm25", "ngram", "hybrid"], ["BM25", "", None, 1, ["bm25"]]),
        ("recency_half_life", [None, 1, 32], [0, 33, 1.5, "none", False]),
        ("granularity", ["sentence", "message", "session"], ["turn", None]),
        ("supersede", [False, True], [0, 1, "true", None]),
        ("memory_order", ["time", "relevance"], ["newest", None]),
        ("threshold", [0, 5, 90], [-5, 3, 95, 0.1, "10", None, False]),
        ("infer", [False, True], [0, 1, "true", None]),
        ("max_memory_tokens", [200, 8000], [199, 8001, None]),
        ("context_tokens", [1000, 128000], [999, 128001, None]),
    ],
)
def test_ranges(name: str, good: list[object], bad: list[object]) -> None:
    setting = BY_NAME[name]
    architecture = min(setting.architectures)
    for value in good:
        assert check(architecture, {name: value})[name] == value
    for value in bad:
        assert not setting.accepts(value)
        with pytest.raises(PolicyFileError, match=rf"setting {name} must be .* not .*; change it"):
            check(architecture, {name: value})


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_defaults_complete(architecture: str) -> None:
    names = [setting.name for setting in applicable(architecture)]
    complete = check(architecture, {})
    assert list(complete) == names
    assert all(BY_NAME[name].accepts(value) for name, value in complete.items())
    assert check(architecture, complete) == complete


def test_none_has_no_settings() -> None:
    assert applicable("none") == ()
    with pytest.raises(PolicyFileError, match=r"not to architecture none; remove it .*none at all"):
        check("none", {"top_k": 3})


def test_misplaced_and_unknown_settings_are_told_apart() -> None:
    with pytest.raises(PolicyFileError, match=r"granularity applies to rag and not to .* awe"):
        check("awe", {"granularity": "message"})
    with pytest.raises(
        PolicyFileError, match=r"awe has no setting 'topk'; remove it or use .*top_k"
    ):
        check("awe", {"topk": 3})


def test_kind_tells_choices_from_integers() -> None:
    kinds = {setting.name for setting in SETTINGS if setting.kind == "choice"}
    assert kinds == {
        *("write_every", "retriever", "granularity", "supersede", "memory_order", "infer")
    }


@pytest.mark.parametrize(
    ("value", "text"), [(None, "null"), (True, "true"), (8, "8"), ("bm25", "bm25")]
)
def test_as_text(value: SettingValue, text: str) -> None:
    assert as_text(value) == text


@given(
    architecture=st.sampled_from(ARCHITECTURES),
    name=st.sampled_from(sorted(BY_NAME)),
    value=st.none() | st.booleans() | st.integers(-5, 9000) | st.floats() | st.text(max_size=9),
)
def test_check_accepts_exactly_what_applies_and_fits(
    architecture: str, name: str, value: object
) -> None:
    setting = BY_NAME[name]
    if architecture in setting.architectures and setting.accepts(value):
        result = check(architecture, {name: value})
        assert result[name] == value
        assert type(result[name]) is type(value)
    else:
        with pytest.raises(PolicyFileError):
            check(architecture, {name: value})
