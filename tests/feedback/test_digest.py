"""What feedback says, to which part of the policy, in which order and size."""

import dataclasses
import random
import re

import pytest

from feedback.diagnosis import diagnose
from feedback.digest import Case, Limits, build_feedback, write_feedback
from feedback.document import MEANINGS
from feedback.evidence import OLDER_VALUE
from feedback.records import (
    Answer,
    ChatMessage,
    Context,
    Entry,
    Rollout,
    StateProbe,
    Usage,
    UserTruth,
    Write,
)
from policies.policy import make_policy, seed_policy

AWE, RAG = seed_policy("awe"), seed_policy("rag")
HEADING = re.compile(r"### (\S+): (\d+) of (\d+) answers wrong \(([^)]*)\)")
SCHEMA = {
    "diet_style": ("vegetarian", "vegan", "pescatarian"),
    "kitchen_size": ("tiny_kitchen", "average_kitchen", "large_kitchen"),
    "main_sport": ("running", "swimming", "yoga"),
}
STATES = (
    {"diet_style": "vegetarian", "kitchen_size": "tiny_kitchen", "main_sport": "yoga"},
    {"diet_style": "vegan", "kitchen_size": "tiny_kitchen", "main_sport": "yoga"},
)
BEFORE = ChatMessage(
    "0.0.0.u",
    "user",
    "[Current Time: 2024-03-01 08:00:00]\nNo meat for me.\n### but cheese. My pans hang here.",
    (("diet_style", "vegetarian"), ("kitchen_size", "tiny_kitchen"), ("main_sport", "yoga")),
)
AFTER = ChatMessage("1.0.0.u", "user", "Now I skip cheese too.", (("diet_style", "vegan"),))


def truth_of(user="u", traceable=True) -> UserTruth:
    """Two periods, three questions; the diet changes."""
    return UserTruth(
        user,
        SCHEMA,
        STATES,
        (frozenset(), frozenset({"diet_style"})),
        ("what to eat?", "what to cook with?", "how to stretch?"),
        tuple(tuple(f"choice {i} of {q}" for i in range(4)) for q in range(3)),
        (("diet_style",), ("diet_style", "kitchen_size"), ("main_sport",)),
        traceable,
    )


def entry(number, label, text, source, **other) -> Entry:
    """An entry of the write with its own number."""
    period = int(source[0])
    return Entry(number, label, text, (source,), number, period, period, **other)


def answer(truth, place, probed, chosen=1, shown=(), window=()) -> Answer:
    """An answer at (period, question), wrong unless ``chosen`` is 0."""
    period, question = place
    now = truth.states[period]
    names = truth.required[question]
    probes = tuple(StateProbe(n, now[n], v) for n, v in zip(names, probed, strict=True))
    context = Context(tuple(shown), tuple(window))
    return Answer(period, question, 4, 0, chosen, probes, context, context, "{}", "{}")


RIGHT = {(p, q): [STATES[p][n] for n in truth_of().required[q]] for p in (0, 1) for q in range(3)}


def case(policy, user="u", answers=None, entries=None, traceable=True, **other) -> Case:
    """A rollout whose answers are right, but for those given by (period, question)."""
    truth = truth_of(user, traceable)
    given = answers or {}
    lived = tuple(
        answer(truth, place, **given.get(place, {"probed": probed, "chosen": 0}))
        for place, probed in RIGHT.items()
    )
    made = (
        (
            entry(0, "food", "is vegetarian and eats no meat", BEFORE.id),
            entry(1, "diet", "is vegan and eats no animal products", AFTER.id),
        )
        if entries is None
        else entries
    )
    writes = (Write(0, 0, (BEFORE.id,), (0,)), Write(1, 1, (AFTER.id,), (1,)))
    usage = (("answer", Usage(6, 500, 100)), ("probe", Usage(6, 900, 9)))
    life = {"writes": writes, "entries": made, "memory_tokens": (10, 20)} | other
    rollout = Rollout(policy.id, user, (BEFORE, AFTER), answers=lived, usage=usage, **life)
    failed = rollout.failure is not None
    return Case(rollout, truth, () if failed else diagnose(rollout, truth))


UNWRITTEN = {"probed": ["vegetarian", "large_kitchen"], "shown": (0,)}
UNUSED = {"probed": ["vegan"], "shown": (0, 1)}
CASES = {(0, 1): UNWRITTEN, (1, 0): UNUSED}


def test_everything_right_says_nothing():
    found = build_feedback(AWE, [case(AWE)])
    assert found.policy == AWE.id
    assert found.failing_states == ()
    assert set(found.mass.values()) == {0.0}
    assert set(found.texts.values()) == {""}
    assert found.numbers["accuracy"] == 1.0
    assert "Nothing is addressed to it." in found.markdown


def test_losses_are_addressed_to_the_parts_that_can_mend_them():
    found = build_feedback(AWE, [case(AWE, answers=CASES)])
    assert found.failing_states == (("diet_style", 1), ("kitchen_size", 1))
    third = 1 / 6  # unwritten among three facts: types, write prompt, settings
    assert found.mass == {
        "reply_prompt": 0.0,
        "memory_types": pytest.approx(2 * third * 0.75),  # which do not name kitchen_size
        "write_prompt": pytest.approx(2 * third * 0.25),
        "answer_prompt": pytest.approx(1 / 4),
        "settings": pytest.approx(third + 1 / 4),
    }
    assert found.groups == {
        "writing": pytest.approx(third),
        "keeping": 0.0,
        "finding": 0.0,
        "showing": pytest.approx(1 / 4),
    }
    assert found.texts["reply_prompt"] == ""
    assert found.texts["memory_types"] == found.texts["write_prompt"]
    assert HEADING.findall(found.texts["memory_types"]) == [
        ("kitchen_size", "1", "2", "unwritten 1")
    ]
    assert HEADING.findall(found.texts["answer_prompt"]) == [("diet_style", "1", "4", "unused 1")]
    assert [h[0] for h in HEADING.findall(found.texts["settings"])] == [
        "diet_style",
        "kitchen_size",
    ]


def test_the_evidence_tells_what_was_said_held_shown_and_answered():
    text = build_feedback(AWE, [case(AWE, answers=CASES)]).texts["memory_types"]
    assert text.split("\n")[1:] == [
        "- unwritten: user u, period 0",
        "  - said in 0.0.0.u, 2024-03-01 08:00:00:"
        ' "No meat for me. ### but cheese. My pans hang here."',
        "  - write 0 of period 0 made: [food: is vegetarian and eats no meat]"
        " (3 told facts competed)",
        "  - the answer was shown 1 of 1 memories; none of the memories resembles it",
        '  - asked "what to cook with?", chose "choice 1 of 1" where "choice 0 of 1" was right;'
        ' the probe said "large_kitchen", true is "tiny_kitchen"',
    ]


SAME = "Because of all that you have told me of your life in the past few years, I would say: "


@pytest.mark.parametrize(
    ("chosen", "right", "said"),
    [
        (
            "Since you\n### fast, " + "a" * 99,
            "Eat " + "b" * 99,
            f'chose "Since you ### fast, {"a" * 79}…" where "Eat {"b" * 95}…" was right',
        ),
        (
            SAME + "soup, and " + "c" * 99,
            SAME + "cake.",
            f'chose "…I would say: soup, and {"c" * 75}…" where "…I would say: cake." was right',
        ),
        ("吃" * 60 + "鱼", "吃" * 60 + "菜", f'chose "…{"吃" * 20}鱼" where "…{"吃" * 20}菜" was'),
    ],
)
def test_long_choices_are_shortened_to_what_tells_them_apart(chosen, right, said):
    lived = case(AWE, answers=CASES)
    truth = dataclasses.replace(lived.truth, choices=((right, chosen),) * 3)
    texts = build_feedback(AWE, [lived._replace(truth=truth)]).texts
    assert said in texts["memory_types"]
    assert f"{said.split('was')[0]}was right, though the probe said" in texts["answer_prompt"]
    assert len(re.findall("^#", texts["memory_types"], re.MULTILINE)) == 1


def test_the_right_choice_is_told_where_no_probe_was_asked_or_no_choice_was_read():
    lived = case(AWE, answers={(0, 0): {"probed": ["vegan"]}})
    bare = tuple(dataclasses.replace(a, probes=()) for a in lived.rollout.answers)
    rollout = dataclasses.replace(lived.rollout, answers=bare)
    found = build_feedback(AWE, [Case(rollout, lived.truth, lived.diagnoses)])
    assert 'chose "choice 1 of 0" where "choice 0 of 0" was right\n' in found.markdown
    wrong = {(0, 0): {"probed": ["vegan"], "chosen": None}}
    text = build_feedback(AWE, [case(AWE, answers=wrong)]).texts["answer_prompt"]
    assert text.endswith('replied "{}", which names no choice; right was "choice 0 of 0"')


def test_an_older_value_in_the_context_is_said_and_counted():
    found = build_feedback(AWE, [case(AWE, answers=CASES)])
    assert found.texts["answer_prompt"].startswith(
        "An older value also stood in the context in 1 of these 1 cases.\n### diet_style"
    )
    assert found.texts["answer_prompt"].endswith(f"  - {OLDER_VALUE}")
    assert (found.numbers["stale_in_context"], found.numbers["stale_live"]) == (1, 1)
    alone = {(1, 0): UNUSED | {"shown": (1,)}}
    found = build_feedback(AWE, [case(AWE, answers=alone)])
    assert not any("older value" in text for text in found.texts.values())
    assert (found.numbers["stale_in_context"], found.numbers["stale_live"]) == (0, 1)


def test_an_older_raw_turn_counts_as_an_older_value():
    raw = tuple(
        entry(i, "", f"user: {turn.content}", turn.id) for i, turn in enumerate((BEFORE, AFTER))
    )
    found = build_feedback(RAG, [case(RAG, answers={(1, 0): UNUSED}, entries=raw)])
    assert (found.numbers["stale_in_context"], found.numbers["stale_live"]) == (1, 1)
    window = {"probed": ["vegetarian"], "window": (BEFORE.id, AFTER.id)}
    found = build_feedback(RAG, [case(RAG, answers={(1, 0): window}, entries=())])
    assert (found.numbers["stale_in_context"], found.numbers["stale_live"]) == (1, 0)


def test_how_a_memory_was_lost_is_told():
    gone = entry(0, "food", "is vegetarian and eats no meat", BEFORE.id, retired=1)
    gone = dataclasses.replace(gone, retired_because="overwritten")
    heir = entry(1, "food", "likes jazz", AFTER.id)
    truth = dataclasses.replace(truth_of(), states=STATES[:1] * 2, updated=(frozenset(),) * 2)
    rollout = case(AWE, entries=(gone, heir)).rollout
    wrong = answer(truth, (1, 0), ["vegan"], shown=(1,))
    rollout = dataclasses.replace(rollout, answers=(*rollout.answers[:3], wrong))
    found = build_feedback(AWE, [Case(rollout, truth, diagnose(rollout, truth))])
    assert HEADING.findall(found.texts["settings"]) == [("diet_style", "1", "3", "lost 1")]
    assert (
        "[food: is vegetarian and eats no meat] was retired in period 1 (overwritten)"
        " by [food: likes jazz]" in found.texts["memory_types"]
    )


def test_without_a_trace_the_stage_addresses():
    wrong = {(1, 0): {"probed": ["vegetarian"]}, (0, 2): {"probed": ["yoga"], "chosen": None}}
    found = build_feedback(AWE, [case(AWE, answers=wrong, traceable=False)])
    assert found.mass["answer_prompt"] == pytest.approx(0.5)
    assert found.mass["memory_types"] == pytest.approx(0.375)
    assert found.mass["write_prompt"] == pytest.approx(0.125)
    assert HEADING.findall(found.texts["memory_types"]) == [("diet_style", "1", "4", "write 1")]
    assert "it changed in period 1; which turn told it is not known" in found.markdown
    assert "which names no choice" in found.texts["answer_prompt"]
    assert not any(name.startswith("trace.") for name in found.numbers)


def test_a_format_failure_goes_to_the_answer_prompt_whatever_was_lost():
    wrong = {(0, 1): {"probed": ["vegan", "large_kitchen"], "chosen": None}}
    found = build_feedback(AWE, [case(AWE, answers=wrong)])
    assert found.mass["answer_prompt"] == 1.0
    assert found.failing_states == (("diet_style", 1), ("kitchen_size", 1))


@pytest.mark.parametrize("architecture", ["none", "native", "rag", "awi"])
def test_only_parts_that_the_policy_has_are_addressed(architecture):
    policy = seed_policy(architecture)
    found = build_feedback(policy, [case(policy, answers=CASES)])
    assert (
        set(found.texts)
        == set(found.mass)
        == {*policy.texts} | ({"settings"} if policy.settings else set())
    )
    assert sum(found.mass.values()) == pytest.approx(1.0)


def test_the_numbers():
    failed = case(AWE, "w", failure="too long", failure_kind="policy")
    found = build_feedback(AWE, [case(AWE, answers=CASES), case(AWE, "v"), failed]).numbers
    assert list(found)[:3] == ["answers", "users", "wrong"]
    assert (found["answers"], found["users"], found["wrong"]) == (12, 2, 2)
    assert found["failed_rollouts"] == 1
    assert found["tokens_per_answer"] == pytest.approx(100.0)
    assert (found["memory_tokens"], found["memory_entries"]) == (20, 2)
    assert found["state.diet_style"] == pytest.approx(1 / 8)
    assert found["state.kitchen_size"] == pytest.approx(1 / 4)
    assert found["trace.unwritten"] == found["trace.unused"] == pytest.approx(1 / 12)
    assert found["competing_facts"] == 3
    for name in ("", "period.0.", "period.1."):
        stages = ("accuracy", "write", "read", "utilization", "format")
        assert sum(found[name + stage] for stage in stages) == pytest.approx(1.0)


def test_the_order_of_the_cases_does_not_matter():
    cases = [case(AWE, user, answers=CASES) for user in "abcd"] + [case(AWE, "e")]
    first = build_feedback(AWE, cases)
    for seed in range(3):
        random.Random(seed).shuffle(cases)
        assert build_feedback(AWE, cases) == first


def test_answers_without_a_diagnosis_are_not_looked_at():
    lived = case(AWE, answers=CASES)
    early = Case(lived.rollout, lived.truth, lived.diagnoses[:3])
    found = build_feedback(AWE, [early])
    assert found.failing_states == (("kitchen_size", 1),)
    assert (found.numbers["answers"], found.numbers["memory_tokens"]) == (3, 10)
    assert found.numbers["memory_entries"] == 1
    assert not any(name.startswith("period.1.") for name in found.numbers)
    assert "vegan" not in found.markdown
    other = dataclasses.replace(lived.diagnoses[0], period=7)
    with pytest.raises(ValueError, match="no answer of user u"):
        build_feedback(AWE, [Case(lived.rollout, lived.truth, (other,))])


def many_states(count):
    """A user with many states, each required and unwritten once, the first twice."""
    schema = {f"state_{i:02}": (f"one_{i}", f"other_{i}") for i in range(count)}
    now = {state: values[0] for state, values in schema.items()}
    required = (*((state,) for state in schema), ("state_00",))
    asked = ("why?",) * (count + 1), (("this", "that"),) * (count + 1)
    truth = UserTruth("u", schema, (now,), (frozenset(),), *asked, required, True)
    said = ChatMessage("0.0.0.u", "user", "words " * 60, tuple(now.items()))
    answers = tuple(answer(truth, (0, question), [None]) for question in range(len(required)))
    rollout = Rollout(AWE.id, "u", (said,), (Write(0, 0, (said.id,), ()),), (), answers, ())
    return Case(rollout, truth, diagnose(rollout, truth))


@pytest.mark.parametrize(("count", "tokens"), [(8, 1500), (8, 300), (40, 1500), (40, 20)])
def test_the_limit_spares_no_heading_and_bounds_the_evidence(count, tokens):
    text = build_feedback(AWE, [many_states(count)], Limits(tokens)).texts["memory_types"]
    headings = HEADING.findall(text)
    assert [heading[0] for heading in headings] == [f"state_{i:02}" for i in range(count)]
    assert headings[0][1] == "2"
    assert text.count("### ") == count
    bare = len("\n".join(line for line in text.split("\n") if line.startswith("#")).encode())
    assert len(text.encode()) <= max(tokens * 4, bare)
    assert ("- unwritten" in text) == (tokens > 250)
    if "- unwritten" in text:
        assert text.split("\n")[1].startswith("- unwritten")


def test_examples_show_each_step_and_other_users_before_the_same_again():
    wrong = {(0, 0): {"probed": ["vegan"]}, (1, 0): {"probed": ["pescatarian"], "shown": (1,)}}
    cases = [case(AWE, "a", answers=wrong), case(AWE, "b", answers={(0, 0): wrong[0, 0]})]
    text = build_feedback(AWE, cases).texts["settings"]
    (heading,) = HEADING.findall(text)
    assert heading == ("diet_style", "3", "8", "unretrieved 2, misread 1")
    assert re.findall("^- .*$", text, re.MULTILINE) == [
        "- unretrieved: user a, period 0",
        "- misread: user a, period 1",
    ]
    same = {(0, 0): wrong[0, 0], (0, 1): {"probed": ["vegan", "tiny_kitchen"]}}
    cases = [case(AWE, "a", answers=same), case(AWE, "b", answers=same)]
    text = build_feedback(AWE, cases).texts["settings"].split("### kitchen_size")[0]
    assert re.findall("^- .*$", text, re.MULTILINE) == [
        "- unretrieved: user a, period 0",
        "- unretrieved: user b, period 0",
    ]


def test_the_document_is_written_whole(tmp_path):
    found = build_feedback(AWE, [case(AWE, answers=CASES)])
    path = tmp_path / "new" / "feedback.md"
    write_feedback(found, path)
    assert path.read_text(encoding="utf-8") == found.markdown
    assert [p.name for p in path.parent.iterdir()] == ["feedback.md"]
    assert found.markdown.startswith(
        f"# Feedback on policy awe-seed ({AWE.id})\n\n"
        "From 6 answers of 1 train user (u) in periods 0, 1."
    )
    assert "## memory_types: 25% of the wrong answers" in found.markdown
    assert "| period | accuracy | write |" in found.markdown


def test_the_document_says_what_every_number_is_and_no_evidence_twice():
    found = build_feedback(AWE, [case(AWE, answers=CASES)])
    plain = [name for name in found.numbers if "." not in name]
    assert plain == list(MEANINGS)
    assert all(f" | {MEANINGS[name]} |\n" in found.markdown for name in plain)
    assert "## write_prompt: 8% of the wrong answers\n\nThe same as for memory_types above.\n" in (
        found.markdown
    )
    assert "- unwritten: user u, period 0: as for memory_types above\n" in found.markdown
    assert found.markdown.count('asked "what to cook with?"') == 1
    for part in ("memory_types", "write_prompt", "settings"):  # each rewriter sees its part alone
        assert 'asked "what to cook with?"' in found.texts[part]


def test_rollouts_of_another_policy_and_no_answers_are_refused():
    other = make_policy("awe", AWE.texts, {"top_k": 3})
    with pytest.raises(ValueError, match=AWE.id):
        build_feedback(AWE, [case(other)])
    with pytest.raises(ValueError, match="no answers to score"):
        build_feedback(AWE, [])


def test_a_recorded_conversation_puts_nothing_to_the_reply_prompt():
    lived, truth, found = case(AWE, answers=CASES, traceable=False)
    recorded = Case(lived, dataclasses.replace(truth, recorded=True), found)
    feedback = build_feedback(AWE, [recorded])
    assert set(feedback.texts) == set(feedback.mass)
    assert set(feedback.texts) == {"memory_types", "write_prompt", "answer_prompt", "settings"}
    assert sum(feedback.mass.values()) == pytest.approx(1)
