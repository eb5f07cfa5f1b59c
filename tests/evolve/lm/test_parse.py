"""How replies are read: the whole table of good, odd and broken ones, each with one result."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evolve.lm.parse import (
    FormatError,
    parse_choice,
    parse_memories,
    parse_object,
    parse_values,
    parse_write,
)

CHOICES = ("Tea, near the cat.", "Coffee, near the cat.", "Use {braces} and wait.", "等一等再说。")
BYTES = 8000

# What a model may say, and what may follow from it: only a result or a FormatError.
PIECES = [
    *("{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", " ", "```", "```json", "<think>"),
    *("</think>", "answer", '"answer": 2', "null", "true", "-1", "2", "1e999", "茶", "\\ud800"),
    *("//", "“", "\x00", "\u2028", "{}", '{"a": "b"}'),
]
REPLIES = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES)).map("".join))


class TestChoice:
    @pytest.mark.parametrize(
        "reply",
        [
            '{"answer": 2}',
            '  {"answer": 2}\n',
            '```json\n{"answer": 2}\n```',
            '```\n{"answer": 2}\n```',
            'The cat decides it.\n```JSON\n{"answer": 2}\n```\nThat is all.',
            'I would say {"answer": 2}, as the user\'s cat is there.',
            'They said {well} and {"diet": "vegan"}, hence {"answer": 2}.',
            'First {"answer": 2}, and again: {"answer": "2"}',
            "{'answer': 2}",
            '{"answer": 2,}',
            "{answer: 2}",
            '{"answer": "2"}',
            '{"answer": " 2. "}',
            '{"answer": 2.0}',
            '{"answer": "2.0"}',
            '{"answer": "B"}',
            '{"answer": "b)"}',
            '{"answer": "(b)"}',
            '{"answer": "Choice 2"}',
            '{"answer": "Coffee, near the cat."}',
            '{"answer": "2. Coffee, near the cat."}',
            '{"reason": "the user\'s {new} cat", "answer": 2}',
            '{"reason": "he said "yes", and left", "answer": 2}',
            '{"answer": 1, "answer": 2}',
            "2",
            "2.",
            " 2.0 ",
            *("２", "②", "（2）"),
            '"2"',
            "#2",
            "B",
            "b.",
            "Answer: 2",
            "answer B",
            "```\n2\n```",
            "```JSON\n2\n```",
            '```json\n```json\n{"answer": 2}\n```\n```',
            "Coffee, near the cat.",
            "coffee,  near the\ncat",
            '"Coffee, near the cat."',
            "2. Coffee, near the cat.",
            '<think>Is it 1? {"answer": 1}</think>{"answer": 2}',
            "<think>1</think>\n2",
            "<THINK>1</THINK>2",
            '<thinking>1</thinking>{"answer": 2}',
            'It is 1? {"answer": 1}</think>{"answer": 2}',
            '<think>a</think>{"answer": 2}<think>cut off {"answer": 1}',
        ],
    )
    def test_read_as_the_second(self, reply):
        assert parse_choice(reply, CHOICES) == 1

    def test_a_choice_with_braces_or_in_chinese(self):
        assert parse_choice("use {braces} and wait", CHOICES) == 2
        assert parse_choice('{"answer": "等一等再说"}', CHOICES) == 3

    @pytest.mark.parametrize(
        "reply",
        [
            *("", " \n", "9" * 5000),
            *("{}", "[]", "{", "}", "```", "null", "true", "false", "NaN", "Infinity"),
            *("0", "-1", "99", "5", "1.5", "1_0", "E", "I", "AB", "options"),
            "I'm sorry, but I cannot tell.",
            "The answer could be 2 or 3.",
            "[2]",
            "[1, 2]",
            '[{"answer": 2}]',
            'Here: [{"answer": 2}]',
            '{"answer": 0}',
            '{"answer": -1}',
            '{"answer": 99}',
            '{"answer": 5}',
            '{"answer": 1.5}',
            '{"answer": null}',
            '{"answer": true}',
            '{"answer": [2]}',
            '{"answer": {"n": 2}}',
            '{"answer": ""}',
            '{"answer": NaN}',
            '{"answer": 1e999}',
            '{"answer": ' + "9" * 4000 + "}",
            '{"answer": ' + "9" * 5000 + "}",
            '{"choice": 2}',
            '{"answer": 2',
            '{"why": "} is a brace", "answer": 2',
            '{"why": {"answer": 2}, "more": "cut',
            'Either {"answer": 2} or {"answer": 3}.',
            '<think>It is {"answer": 2}',
            "<think>2</think>",
            '{"answer": 2}</think>',
            *('{"answer": −1}', '{"answer": –2}', '{"answer": 1２}', '{"answer": 1 | 2}'),
            *('{"answer": 1 or 2}', '{"answer": 1, 2}', '{"answer": "1", "2"}', '{"answer": !2}'),
            '{"answer": 1, {"answer": 2}}',
            "{'answer': 1, 'answer': 2}",
            *('｛"answer": 2｝', "【2】", '{"answer": "٢"}', "٢", "二"),
            *("A" * 100_000, '{"answer": "' + "2" * 100_000 + '"}'),
            "Tea, near the cat. Coffee, near the cat.",
        ],
    )
    def test_refused(self, reply):
        with pytest.raises(FormatError) as caught:
            parse_choice(reply, CHOICES)
        assert 0 < len(str(caught.value)) < 120

    def test_a_number_is_that_of_a_choice_before_it_is_a_text(self):
        assert parse_choice('{"answer": "2"}', ("2", "3")) == 1
        assert parse_choice('{"answer": 2}', ("2", "3")) == 1
        assert parse_choice('{"answer": "20"}', ("10", "20")) == 1
        with pytest.raises(FormatError):
            parse_choice('{"answer": 20}', ("10", "20"))

    def test_a_text_that_two_choices_share_names_neither(self):
        with pytest.raises(FormatError):
            parse_choice("Wait.", ("Wait.", "wait", "Go."))
        assert parse_choice("2. Wait.", ("Wait.", "wait", "Go.")) == 1

    @given(REPLIES)
    @example("{" * 3000)
    @example("[" * 200_000)
    @example('{"answer": ' + "[" * 3000 + "]" * 3000 + "}")
    def test_nothing_but_a_choice_or_a_format_error(self, reply):
        with suppress(FormatError):
            assert parse_choice(reply, CHOICES) in range(len(CHOICES))

    @given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, unique=True), st.data())
    def test_every_choice_can_be_named_by_its_number(self, choices, data):
        index = data.draw(st.integers(0, len(choices) - 1))
        assert parse_choice(json.dumps({"answer": index + 1}), choices) == index


class TestWrite:
    @pytest.mark.parametrize(
        ("reply", "facts"),
        [
            ("{}", {}),
            ("```json\n{}\n```", {}),
            ("Nothing new: {}", {}),
            ('{"diet": "vegan"}', {"diet": "vegan"}),
            ('```json\n{"diet": "vegan"}\n```', {"diet": "vegan"}),
            ('Noted.\n{"diet": "vegan"}\nAnything else?', {"diet": "vegan"}),
            ('{"diet": "vegan"} … {"diet": "vegan"}', {"diet": "vegan"}),
            ("{'diet': 'the user's tea', }", {"diet": "the user's tea'"}),
            ('{"diet": "\\ud83c\\udf75",}', {"diet": "🍵"}),
            ('{"diet": "meat", "diet": "vegan"}', {"diet": "vegan"}),
            ('{"diet": "says "never" to meat"}', {"diet": 'says "never" to meat'}),
            ('{" diet ": "  vegan\\n"}', {"diet": "vegan"}),
            ('{"diet\\n style": "a\\n b {c} }"}', {"diet style": "a\n b {c} }"}),
            ('{"diet": "two\nlines"}', {"diet": "two\nlines"}),
            ('{"Diet": "meat", "pet": "cat", "diet": "vegan"}', {"diet": "vegan", "pet": "cat"}),
            ('{"STRASSE": "a", "straße": "b"}', {"straße": "b"}),
            ('{"cafe\\u0301": "e\\u0301"}', {"café": "é"}),
            ('{"饮食": "吃素"}', {"饮食": "吃素"}),
            ('{"note": "{{memories}} and %s and {0}"}', {"note": "{{memories}} and %s and {0}"}),
            ('{"note": "likes <think> tags"}', {"note": "likes <think> tags"}),
            ('<think>{"diet": "meat"}</think>{"diet": "vegan"}', {"diet": "vegan"}),
            ('{"null": "null"}', {"null": "null"}),
            (json.dumps({"a": "x" * BYTES}), {"a": "x" * BYTES}),
        ],
    )
    def test_applied(self, reply, facts):
        assert parse_write(reply) == facts

    def test_the_later_spelling_stands_where_the_first_stood(self):
        assert list(parse_write('{"A": "1", "b": "2", "a": "3"}').items()) == [
            ("a", "3"),
            ("b", "2"),
        ]

    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            *((reply, "must be a JSON object") for reply in ("", "null", "[]", '"a"', "2", "ok")),
            *((reply, "must be a JSON object") for reply in ("{diet}", "{...}", '["a", "b"]')),
            ('[{"diet": "vegan"}]', "must be a JSON object"),
            ('Here: [{"diet": "vegan"}]', "list"),
            ('```json\n[{"diet": "vegan"}]\n```', "list"),
            ('{"diet": "vegan"', "cut off"),
            ('{"diet": "vegan", "pet": "c', "cut off"),
            ('{"diet": "veg}", "pet": "c', "cut off"),
            ('{"a": {"diet": "vegan"}, "pet": "c', "cut off"),
            ('{"diet": "vegan"}\n{"pet": "cat"}', "several"),
            ('{"diet": "vegan", "tea"}', "cannot be read"),
            ('{"label": "value", ...}', "cannot be read"),
            ("{'diet': 'meat', 'diet': 'vegan'}", "cannot be read"),
            ('{"diet": {"is": "vegan"}}', "not a string"),
            ('{"diet": ["vegan"]}', "not a string"),
            ('{"diet": null}', "not a string"),
            ('{"diet": true}', "not a string"),
            ('{"age": 34, "diet": "vegan"}', "not a string"),
            ('{"": "vegan"}', "empty"),
            ('{" \\n": "vegan"}', "empty"),
            ('{"diet": " "}', "empty"),
            (json.dumps({"a": "x" * 200_000}), "over 8000 bytes"),
            ("Here: " + json.dumps({"a": "x" * 200_000}), "over 8000 bytes"),
            (json.dumps({"x" * 200_000: "a"}), "over 8000 bytes"),
            (json.dumps({"a": "茶" * 3000}), "over 8000 bytes"),
            ("{'a': '" + "x" * 200_000 + "'}", "over 8000 characters"),
            ('{"a": "\\ud800"}', "surrogate"),
            ('{"\\udfff": "a"}', "surrogate"),
        ],
    )
    def test_refused_whole(self, reply, reason):
        with pytest.raises(FormatError, match=reason) as caught:
            parse_write(reply)
        assert len(str(caught.value)) < 150

    @given(REPLIES)
    @example('{"a": "\ud800"}')
    @example('{"a": "' + "\\" * 999 + '"}')
    def test_nothing_but_clean_facts_or_a_format_error(self, reply):
        try:
            facts = parse_write(reply)
        except FormatError:
            return
        assert len({label.casefold() for label in facts}) == len(facts)
        for label, text in facts.items():
            assert label == " ".join(label.split()) != ""
            assert text == text.strip() != ""
            assert len(text.encode()) <= BYTES

    @given(st.dictionaries(st.text(), st.text()))
    def test_fences_and_prose_change_nothing(self, facts):
        bare = json.dumps(facts)
        for dressed in (f"```json\n{bare}\n```", f"Noted: {bare} Thanks!"):
            try:
                expected = parse_write(bare)
            except FormatError:
                with pytest.raises(FormatError):
                    parse_write(dressed)
            else:
                assert parse_write(dressed) == expected


class TestValues:
    def test_texts_of_the_states_that_were_asked(self):
        reply = '{"drink": " tea ", "pet": "Unknown", "x": "y"}'
        assert parse_values(reply, ["drink", "pet"]) == {"drink": "tea", "pet": "Unknown"}

    @pytest.mark.parametrize("value", ["3", "null", '""', '" "', "true", '["tea"]', '{"a": "b"}'])
    def test_what_is_no_text_is_none(self, value):
        reply = f'{{"drink": {value}, "pet": "cat"}}'
        assert parse_values(reply, ["drink", "pet"]) == {"drink": None, "pet": "cat"}

    @pytest.mark.parametrize(
        "reply",
        [
            *("", "tea", "null", "[]"),
            '{"tea": "drink"}',
            '{"drink": "tea"',
            '[{"drink": "tea"}]',
            '{"drink": "tea"} or {"drink": "milk"}',
        ],
    )
    def test_no_such_object_is_none_for_every_state(self, reply):
        assert parse_values(reply, ["drink", "pet"]) == {"drink": None, "pet": None}

    def test_an_object_about_something_else_does_not_matter(self):
        assert parse_values('{"x": 1} {"drink": "tea"}', ["drink"]) == {"drink": "tea"}

    @given(REPLIES)
    def test_it_never_raises(self, reply):
        assert parse_values(reply, ["answer", "a"]).keys() == {"answer", "a"}


class TestMemories:
    @pytest.mark.parametrize(
        ("reply", "texts"),
        [
            ("{}", []),
            ('{"memory": []}', []),
            (
                '{"memory": [{"id": "0", "text": " a "}, {"text": "b", "attributed_to": "x"}]}',
                ["a", "b"],
            ),
            ('```json\n{"memory": [{"text": "a"}, {"text": "a"}]}\n```', ["a"]),
            ('So: {"memory": [{"text": "{b}"},]}', ["{b}"]),
        ],
    )
    def test_read(self, reply, texts):
        assert parse_memories(reply) == texts

    @pytest.mark.parametrize(
        ("reply", "why"),
        [
            ("", "must be one JSON object"),
            ("Nothing to keep.", "must be one JSON object"),
            ('[{"text": "a"}]', "must be one JSON object"),
            ('{"memory": []} or {"memory": [{"text": "a"}]}', "must be one JSON object"),
            ('{"diet": "vegan"}', "no list under memory"),
            ('{"memory": null}', "no list under memory"),
            ('{"memory": {"text": "a"}}', "no list under memory"),
            ('{"memory": ["a"]}', "has no text"),
            ('{"memory": [{"text": ""}]}', "has no text"),
            ('{"memory": [{"text": 3}]}', "has no text"),
            ('{"memory": [{"id": "0"}]}', "has no text"),
            (f'{{"memory": [{{"text": "{"a" * (BYTES + 1)}"}}]}}', "over 8000 bytes"),
            ('{"memory": [{"text": "a"}', "cut off"),
        ],
    )
    def test_refused(self, reply, why):
        with pytest.raises(FormatError, match=why):
            parse_memories(reply)

    @given(REPLIES)
    def test_texts_or_a_format_error(self, reply):
        with suppress(FormatError):
            assert all(text.strip() for text in parse_memories(reply))


class TestObject:
    def test_the_one_that_has_a_key(self):
        assert parse_object('{"a": 1} {"b": [2]}', "b", "c") == {"b": [2]}
        assert parse_object('{"b": 1} {"b": 2}', "b") is None
        assert parse_object('{"a": 1}', "b") is None


@pytest.mark.parametrize(
    "reply",
    [
        *(unit * (1_000_000 // len(unit)) for unit in ("{", "}", "<think>", "```", '"', "\\", " ")),
        *("{" + unit * 200_000 + "}" for unit in ("a", '"', "'", "\\", '"a" ', "{}")),
        "```" + " " * 1_000_000,
        "{" * 500_000 + "}" * 500_000,
        '{"a": ' * 100_000 + "}" * 100_000,
        '{"a": "' + "}" * 1_000_000,
        "{" + "\x00'" * 3_999 + "}",  # the slowest to repair
    ],
    ids=lambda reply: repr(reply[:12]),
)
def test_huge_and_hostile_replies_are_read_fast(reply):
    start = time.thread_time()  # not the clock: other tests may run beside this one
    with pytest.raises(FormatError):
        parse_write(reply)
    assert time.thread_time() - start < 5  # the slowest takes 1.3 s
