from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import PolicyFileError
from policies.placeholders import TEXTS, check_texts, fill, names, required

NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
BRACES = st.text(alphabet="{} ab_1\n", max_size=30)
SAFE = BRACES.filter(lambda text: not names("{" + text + "}") and not names("{{" + text + "}}"))


def test_required_placeholders_are_those_of_the_design() -> None:
    everything = {"memory_types", "memories", "conversation"}
    assert required("awe", "write_prompt") == required("awi", "write_prompt") == everything
    assert required("awe", "memory_types") == frozenset()
    for architecture in ("rag", "awe", "awi"):
        assert required(architecture, "reply_prompt") == {"memories"}
        assert required(architecture, "answer_prompt") == {"memories"}
    for architecture in ("none", "native"):
        assert set(TEXTS[architecture]) == {"reply_prompt", "answer_prompt"}
        assert required(architecture, "reply_prompt") == frozenset()


def test_unknown_text_or_architecture_is_a_key_error() -> None:
    for architecture, text in (("rag", "write_prompt"), ("raggy", "reply_prompt")):
        with pytest.raises(KeyError):
            required(architecture, text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("{{b}} {{a}} {{b}}", ("b", "a")),
        ("{{{memories}}}", ("memories",)),
        ("{memories} {{ memories }} {{}} {{1a}} {{a-b}} {{", ()),
        ('{"a": {"b": 1}}', ()),
    ],
)
def test_names(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found


def test_fill_is_one_pass() -> None:
    assert fill("{{a}}{{b}}", {"a": "{{b}}", "b": "{{a}}", "c": "x"}) == "{{b}}{{a}}"
    assert fill("{{{a}}} {0} {a} %s \\1", {"a": "\\g<0>"}) == "{\\g<0>} {0} {a} %s \\1"


def test_fill_wants_every_value() -> None:
    with pytest.raises(KeyError, match="memories"):
        fill("{{memories}}", {"memory": ""})


@given(text=BRACES, values=st.dictionaries(NAME, st.text()))
def test_text_without_placeholders_is_untouched(text: str, values: dict[str, str]) -> None:
    if not names(text):
        assert fill(text, values) == text


@given(pieces=st.lists(st.tuples(SAFE, NAME), max_size=5), values=st.dictionaries(NAME, st.text()))
def test_fill_replaces_exactly_the_placeholders(
    pieces: list[tuple[str, str]], values: dict[str, str]
) -> None:
    complete = {name: values.get(name, "{{again}}") for _, name in pieces}
    text = "|".join(f"{plain}|{{{{{name}}}}}" for plain, name in pieces)
    assert fill(text, complete) == "|".join(f"{plain}|{complete[name]}" for plain, name in pieces)
    assert names(text) == tuple(dict.fromkeys(name for _, name in pieces))


@given(pieces=st.lists(st.tuples(SAFE, NAME), max_size=5))
def test_nothing_is_left_to_fill(pieces: list[tuple[str, str]]) -> None:
    text = "|".join(f"{plain}|{{{{{name}}}}}" for plain, name in pieces)
    assert names(fill(text, dict.fromkeys(names(text), "value"))) == ()


@given(text=BRACES)
def test_filling_with_the_placeholders_themselves_changes_nothing(text: str) -> None:
    assert fill(text, {name: f"{{{{{name}}}}}" for name in names(text)}) == text


GOOD: dict[str, object] = {"reply_prompt": "R {{memories}}", "answer_prompt": "A {{memories}}"}


def test_texts_come_back_in_file_order() -> None:
    assert list(check_texts("rag", dict(reversed(GOOD.items())))) == [
        "reply_prompt",
        "answer_prompt",
    ]


@pytest.mark.parametrize(
    ("architecture", "change", "message"),
    [
        ("rag", {"write_prompt": "w"}, "has no text 'write_prompt'; remove it"),
        ("rag", {"reply_prompt": 3}, "text reply_prompt must be text, not 3; put it in quotes"),
        ("rag", {"reply_prompt": None}, "text reply_prompt must be text, not None"),
        ("rag", {"reply_prompt": " \n"}, "text reply_prompt must not be empty"),
        ("rag", {"reply_prompt": "R {memories}"}, r"must contain .* \{\{memories\}\}, which is"),
        ("rag", {"reply_prompt": "R {{memories}} {{m}}"}, r"unknown placeholder \{\{m\}\}"),
        ("rag", {"reply_prompt": "R {{memories}} \ud800"}, "half a character"),
        ("native", {}, r"unknown placeholder \{\{memories\}\}; remove it \(allowed: none\)"),
        ("awe", {}, "architecture awe needs the text memory_types; add it"),
    ],
)
def test_broken_texts(architecture: str, change: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyFileError, match=message):
        check_texts(architecture, GOOD | change)
