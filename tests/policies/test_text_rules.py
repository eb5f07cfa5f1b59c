from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import MnemotuneError, RejectedTextError, UserError
from policies.policy import seed_policy
from policies.text_rules import RewriteRules, check_rewrite

SCHEMA = {
    "weekly_hours": ["part_time", "full_time", "weekly"],
    "noise": ["high", "low", "none", "3", "2024", "car", "sea-view"],
    "main_sport": ["swimming", "yoga"],
    "pet": ["has_dog", "no_pet"],
    "town_of_birth_of_both_parents": ["Zürich", "北京", "高"],
}
MESSAGE = "By the way, I always cook for my two sisters on Sundays."
CHINESE_MESSAGE = "顺便说一句,我每个星期天都给两个妹妹做饭。"
RULES = RewriteRules.build([SCHEMA], [MESSAGE, CHINESE_MESSAGE])

PARENT = """\
Note what the user tells you about the things that they care for and about the people around them.
{{memories}}
"""
CHINESE_PARENT = "请记下用户告诉你的重要事情,以及他们身边的人和他们的计划。{{memories}}"


def note(addition: str) -> str:
    """A good rewrite of PARENT with something added."""
    return PARENT.replace("things", "matters") + addition


def reason(parent: str, new: str | None, rules: RewriteRules = RULES) -> str:
    with pytest.raises(RejectedTextError) as caught:
        check_rewrite(parent, new, rules)
    return str(caught.value)


def test_a_rejection_is_no_user_error() -> None:
    assert issubclass(RejectedTextError, MnemotuneError)
    assert not issubclass(RejectedTextError, UserError)


@pytest.mark.parametrize("new", [None, "", " \n", "null", "None", '"null"', "`none`", "N/A", "{}"])
def test_null_and_empty(new: str | None) -> None:
    assert reason(PARENT, new) == "the rewrite is empty or null"


def test_unchanged() -> None:
    assert (
        reason(PARENT, "  " + PARENT.replace(" ", "\n")) == "the rewrite is the same as its parent"
    )


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (note("").replace("{{memories}}", ""), "drops the placeholder {{memories}}"),
        (note("").replace("{{memories}}", "{memories}"), "drops the placeholder {{memories}}"),
        (note("").replace("{{memories}}", "{{ memories }}"), "drops the placeholder {{memories}}"),
        (note("{{user}} {{also}}"), "invents the placeholder {{also}}, {{user}}"),
    ],
)
def test_placeholders(new: str, why: str) -> None:
    assert reason(PARENT, new) == f"the rewrite {why}"


def test_length() -> None:
    assert len(PARENT.encode()) == 112
    check_rewrite(PARENT, note("!" * 108), RULES)
    assert "more than twice the 28 of its parent" in reason(PARENT, note("!" * 113))
    long = PARENT + "." * 7000
    check_rewrite(long, PARENT + "!" * (8000 - len(PARENT)), RULES)
    assert reason(long, PARENT + "!" * 8000).endswith("tokens, more than 2000")


@pytest.mark.parametrize(
    ("parent", "new", "why"),
    [
        (PARENT, CHINESE_PARENT, "mostly Chinese and its parent Latin"),
        (
            CHINESE_PARENT,
            PARENT.replace("about the people", "about"),
            "mostly Latin and its parent",
        ),
        (
            CHINESE_PARENT,
            "ユーザーが話した大切なことを覚えてください。{{memories}}",
            "mostly Japanese and its parent Chinese",
        ),
        (
            PARENT,
            "Merke dir, was der Mensch über die Dinge und die Leute sagt, die ihm nah sind."
            " {{memories}}",
            "mostly German and its parent English",
        ),
        (PARENT, "Запомни, что человек говорит о себе. {{memories}}", "mostly Cyrillic and its"),
    ],
)
def test_language(parent: str, new: str, why: str) -> None:
    assert why in reason(parent, new)


def test_foreign_words_and_names_of_states_do_not_change_the_language() -> None:
    check_rewrite(PARENT, note("Such as Weltschmerz und Gemütlichkeit."), RULES)
    check_rewrite(CHINESE_PARENT, "请记下:weekly_hours, main_sport, pet {{memories}}", RULES)
    check_rewrite(PARENT, "weekly_hours, main_sport, pet {{memories}}", RULES)


@pytest.mark.parametrize(
    ("addition", "value"),
    [
        ("- part_time", "part time"),
        ("Do they work Full-Time?", "full time"),
        ("- sport: swimming", "swimming"),
        ("- (no pet)", "no pet"),
        ("- ZÜRICH", "zürich"),
        ("- sea view", "sea view"),
        ("- 生于北京", "北京"),
    ],
)
def test_values_are_rejected_as_whole_words(addition: str, value: str) -> None:
    assert reason(PARENT, note(addition)) == (
        f"the rewrite holds the value {value!r}, which its parent does not"
    )


@pytest.mark.parametrize(
    "addition",
    [
        "- weekly hours, main_sport, pet",  # names of states, one of them with a value's word
        "- high, low, none, 3, 2024, car, weekly, 高",  # tell nothing by themselves
        "- swimmingly partly timed dogs",  # only parts of words
        "- part of their time",
    ],
)
def test_what_is_no_value(addition: str) -> None:
    check_rewrite(PARENT, note(addition), RULES)


def test_a_value_of_the_parent_may_stay() -> None:
    parent = PARENT + "- swimming"
    check_rewrite(parent, note("- Swimming, above all"), RULES)
    assert "'yoga'" in reason(parent, note("- yoga, above all"))


@pytest.mark.parametrize(
    ("parent", "addition", "copied"),
    [
        (PARENT, "- always cook for my two sisters", "always cook for my two sisters"),
        (PARENT, "Always cook:\nfor MY two, sisters!", "always cook for my two sisters"),
        (CHINESE_PARENT, "每个星期天都给两个妹妹做", "每个星期天都给两个妹妹做"),
    ],
)
def test_copies_are_rejected_whatever_the_punctuation(
    parent: str, addition: str, copied: str
) -> None:
    new = parent.replace("{{memories}}", "\n{{memories}}\n") + addition
    assert reason(parent, new).startswith(f"the rewrite copies '{copied}' from a question")


def test_shorter_runs_and_runs_of_the_parent_are_no_copies() -> None:
    check_rewrite(PARENT, note("- always cook for my two brothers"), RULES)
    check_rewrite(CHINESE_PARENT, CHINESE_PARENT + "每个星期天都给两个妹妹", RULES)
    check_rewrite(PARENT + MESSAGE, note(MESSAGE), RULES)


def test_a_placeholder_ends_a_run() -> None:
    check_rewrite(PARENT, note("always cook for {{memories}} my two sisters"), RULES)


def test_names_of_states_are_no_copy() -> None:
    rules = RULES.forbidding(["What is your town of birth of both parents, please?"])
    check_rewrite(PARENT, note("- town_of_birth_of_both_parents"), rules)
    assert "copies" in reason(PARENT, note("- your town of birth of both parents"), rules)


def test_forbidding_adds() -> None:
    text = "My neighbour lends me a ladder whenever I need one"
    check_rewrite(PARENT, note(text), RULES)
    assert "copies" in reason(PARENT, note(text), RULES.forbidding([text]))
    assert "copies" in reason(PARENT, note(MESSAGE), RULES.forbidding([text]))


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), min_size=6, max_size=12))
def test_every_copied_run_is_found(message: list[str]) -> None:
    rules = RewriteRules.build([], [" ".join(message)])
    assert "copies" in reason(PARENT, note(", ".join(message)), rules)
    check_rewrite(PARENT, note(", ".join(message[:5])), rules)


@given(text=st.text(max_size=300))
def test_any_text_is_accepted_or_rejected_with_a_reason(text: str) -> None:
    with suppress(RejectedTextError):
        check_rewrite(PARENT, text, RULES)
    assert reason(PARENT, text + "{{x}}").startswith("the rewrite ")


def test_rules_of_published_users(shared_data: Path) -> None:
    users = json.loads((shared_data / "amemgym-v1" / "data.json").read_text(encoding="utf-8"))
    schemas = [user["state_schema"] for user in users]
    queries = [
        session["query"]
        for user in users
        for period in user["periods"]
        for session in period["sessions"]
    ]
    rules = RewriteRules.build(schemas, queries)
    for architecture in ("awe", "awi", "rag"):
        for text in seed_policy(architecture).texts.values():
            check_rewrite("Old. " + text, text, rules)
    types = seed_policy("awe").texts["memory_types"]
    names = "".join(f"- {state}\n" for state in list(schemas[0])[:10])
    check_rewrite(types, types + names, rules)
    for values in (value for schema in schemas for value in schema.values() if "_" in value[0]):
        assert "holds the value" in reason(types, f"{types}- {values[0]}", rules)
    assert "copies" in reason(types, types + queries[0], rules)
