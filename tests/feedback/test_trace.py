"""A constructed life for each step that can lose a state, and what holds for all."""

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedback.records import (
    Answer,
    ChatMessage,
    Context,
    Entry,
    Rollout,
    StateProbe,
    StateTrace,
    TraceStage,
    UserTruth,
    Write,
)
from feedback.trace import index_rollout, revealing_turns, trace_answer

SCHEMA = {
    "diet_style": ("vegetarian", "vegan", "pescatarian"),
    "kitchen_size": ("tiny_kitchen", "average_kitchen", "large_kitchen"),
    "main_sport": ("running", "swimming", "yoga"),
}
NOW = {"diet_style": "vegan", "kitchen_size": "tiny_kitchen", "main_sport": "yoga"}
DIET = "Nothing that comes from an animal ends up on my plate."
CHAT = "It rained all day. Which soup should I make?"
TOLD = ChatMessage("0.0.0.u", "user", f"{DIET} {CHAT}", (("diet_style", "vegan"),))
OTHER = ChatMessage(
    "0.1.0.u",
    "user",
    "There is hardly room for one board in there. My mat is my temple.",
    (("kitchen_size", "tiny_kitchen"), ("main_sport", "yoga")),
)
REPLY = ChatMessage("0.0.0.a", "assistant", "Try a lentil soup, and stay dry!")
WRITE = Write(0, 0, (TOLD.id, REPLY.id), (0,))
ABOUT_DIET = "is vegan and eats no animal products"


def truth_of(states=(NOW,), required=(("diet_style",),), traceable=True, schema=None) -> UserTruth:
    """A user with the given states per period."""
    updated = [frozenset()]
    for before, now in pairwise(states):
        updated.append(frozenset(name for name in now if before[name] != now[name]))
    queries = tuple(f"question {i}" for i in range(len(required)))
    values = schema or SCHEMA
    choices = (("these", "those"),) * len(required)
    spans = tuple(states), tuple(updated)
    return UserTruth("u", values, *spans, queries, choices, required, traceable)


def entry(text, number=0, label="food", sources=(TOLD.id, REPLY.id), **other) -> Entry:
    """An entry of write 0 unless said otherwise."""
    made = {"written": 0, "period": 0, "session": 0} | other
    return Entry(number, label, text, sources, **made)


def answer(truth, shown=(), window=(), probed=None, period=0, **other) -> Answer:
    """A wrong answer; ``probed`` gives the probed values of the first question's states."""
    names = truth.required[0]
    probes = tuple(
        StateProbe(name, truth.states[period][name], value)
        for name, value in zip(names, probed or (), strict=probed is not None)
    )
    made = {"chosen": 1, "probe_context": Context()} | other
    return Answer(
        period, 0, 4, 0, probes=probes, context=Context(tuple(shown), tuple(window)), **made
    )


def trace(truth, asked, messages=(TOLD, REPLY), writes=(WRITE,), entries=()):
    """Stages of one answer's states, as (state, stage) pairs."""
    rollout = Rollout("p", "u", tuple(messages), tuple(writes), tuple(entries), (asked,), ())
    return trace_answer(asked, index_rollout(rollout), truth)


def stage_of(asked, truth=None, **life) -> TraceStage:
    """The stage of the one required state."""
    ((lost),) = trace(truth or truth_of(), asked, **life)
    return lost.stage


WRONG = ("vegetarian",)
RIGHT = ("vegan",)
LATER = Write(1, 1, ("1.0.0.u",), (1,))


def wrong(**other) -> Answer:
    return answer(truth_of(), probed=WRONG, **other)


def right(**other) -> Answer:
    return answer(truth_of(), probed=RIGHT, **other)


def test_unsaid_without_a_revealing_turn():
    assert stage_of(wrong(), messages=(OTHER, REPLY)) is TraceStage.UNSAID


def test_unwritten_if_the_write_made_nothing_of_it():
    made = [entry("likes rainy days", label="weather")]
    assert stage_of(wrong(shown=[0]), entries=made) is TraceStage.UNWRITTEN


def test_unwritten_if_the_write_failed():
    failed = Write(0, 0, WRITE.batch, (), "no JSON")
    assert trace(truth_of(), wrong(), writes=[failed]) == (
        StateTrace("diet_style", TraceStage.UNWRITTEN, 1),
    )


def test_unwritten_counts_the_facts_that_competed():
    together = Write(0, 0, (TOLD.id, REPLY.id, OTHER.id), (0,))
    made = [entry("has a tiny kitchen", label="home", sources=together.batch)]
    found = trace(truth_of(), wrong(), (TOLD, REPLY, OTHER), [together], made)
    assert found == (StateTrace("diet_style", TraceStage.UNWRITTEN, 3),)


def test_unwritten_without_competition_if_no_write_had_it():
    assert trace(truth_of(), wrong(), writes=()) == (
        StateTrace("diet_style", TraceStage.UNWRITTEN, None),
    )


def test_corrupted_if_the_entry_says_another_value():
    assert stage_of(wrong(shown=[0]), entries=[entry("is vegetarian")]) is TraceStage.CORRUPTED


def test_an_entry_with_a_value_that_another_of_its_turns_told_is_not_corrupted():
    states = (NOW | {"diet_style": "vegetarian"}, NOW)
    before = dataclasses.replace(TOLD, told=(("diet_style", "vegetarian"),))
    after = ChatMessage("1.0.0.u", "user", DIET, (("diet_style", "vegan"),))
    both = Write(0, 1, (before.id, after.id), (0,))
    truth = truth_of(states)
    asked = answer(truth, probed=WRONG, period=1)
    made = [entry("is vegetarian", sources=both.batch, period=1)]
    assert stage_of(asked, truth, messages=(before, after), writes=[both], entries=made) is (
        TraceStage.UNWRITTEN
    )


def test_undecided_if_the_entry_is_about_the_state_without_a_clear_value():
    made = [entry("changed diet style lately")]
    assert stage_of(wrong(shown=[0]), entries=made) is TraceStage.UNDECIDED


def test_a_quote_that_resembles_no_state_is_about_something_else():
    made = [entry("It rained all day."), entry("is vegetarian", 1)]
    assert stage_of(wrong(shown=[0]), entries=made[:1]) is TraceStage.UNWRITTEN
    assert stage_of(wrong(shown=[0]), entries=made) is TraceStage.CORRUPTED


def test_undecided_is_decided_by_a_right_probe_that_was_shown_the_entry():
    made = [entry("changed diet style lately")]
    seen = {"probe_context": Context((0,))}
    assert stage_of(right(shown=[0], **seen), entries=made) is TraceStage.UNUSED
    assert stage_of(right(**seen), entries=made) is TraceStage.UNRETRIEVED
    assert stage_of(right(shown=[0]), entries=made) is TraceStage.UNDECIDED


@pytest.mark.parametrize("because", ["overwritten", "superseded", "max_memory_tokens"])
def test_lost_if_retired_before_the_answer(because):
    truth = truth_of((NOW, NOW))
    gone = entry(ABOUT_DIET, retired=1, retired_because=because)
    life = {"writes": (WRITE, LATER), "entries": [gone, entry("likes jazz", 1, written=1)]}
    asked = answer(truth, probed=WRONG, period=1)
    assert stage_of(asked, truth, **life) is TraceStage.LOST
    before = answer(truth, probed=WRONG, period=0)
    assert stage_of(before, truth, **life) is TraceStage.UNRETRIEVED


def test_a_replacement_that_says_the_value_carries_it_on():
    gone = entry(ABOUT_DIET, retired=1, retired_because="overwritten")
    heir = entry("still vegan, loves soup", 1, "Food", (OTHER.id,), written=1)
    life = {"writes": (WRITE, Write(1, 0, (OTHER.id,), (1,))), "entries": [gone, heir]}
    life["messages"] = (TOLD, REPLY, OTHER)
    assert stage_of(wrong(), **life) is TraceStage.UNRETRIEVED
    assert stage_of(wrong(shown=[1]), **life) is TraceStage.MISREAD


def test_unretrieved_misread_and_unused():
    made = [entry(ABOUT_DIET)]
    assert stage_of(wrong(), entries=made) is TraceStage.UNRETRIEVED
    assert stage_of(wrong(shown=[0]), entries=made) is TraceStage.MISREAD
    assert stage_of(right(shown=[0]), entries=made) is TraceStage.UNUSED
    assert stage_of(answer(truth_of(), shown=[0]), entries=made) is TraceStage.UNUSED


def test_the_answers_context_decides_not_the_probes():
    seen = right(probe_context=Context((0,)))
    assert stage_of(seen, entries=[entry(ABOUT_DIET)]) is TraceStage.UNRETRIEVED


def test_a_raw_turn_in_the_window_is_memory_of_itself():
    assert stage_of(wrong(window=[TOLD.id]), writes=()) is TraceStage.MISREAD
    assert stage_of(right(window=[TOLD.id]), writes=()) is TraceStage.UNUSED


def test_a_turn_that_fell_out_of_a_history_is_lost():
    assert stage_of(wrong(window=[REPLY.id]), writes=()) is TraceStage.LOST


def test_an_entry_of_rag_is_the_raw_turn_and_never_corrupted():
    raw = entry(f"user: {TOLD.content} is vegetarian", label="", sources=(TOLD.id,))
    assert stage_of(wrong(), entries=[raw]) is TraceStage.UNRETRIEVED
    assert stage_of(wrong(shown=[0]), entries=[raw]) is TraceStage.MISREAD
    gone = dataclasses.replace(raw, retired=0, retired_because="max_memory_tokens")
    assert stage_of(wrong(), entries=[gone]) is TraceStage.LOST


def test_of_a_turn_in_pieces_the_one_that_resembles_the_state_stands_for_it():
    pieces = [
        entry("user: It rained all day.", 0, "", (TOLD.id,)),
        entry("user: I am vegan.", 1, "", (TOLD.id,)),
    ]
    assert stage_of(wrong(shown=[0]), entries=pieces) is TraceStage.UNRETRIEVED
    assert stage_of(wrong(shown=[1]), entries=pieces) is TraceStage.MISREAD
    implied = [pieces[0], entry(f"user: {DIET}", 1, "", (TOLD.id,))]
    assert stage_of(wrong(shown=[0]), entries=implied) is TraceStage.MISREAD


def test_an_entry_that_repeats_the_turn_is_the_turn():
    made = [entry(f"The user said: {TOLD.content}")]
    assert stage_of(wrong(shown=[0]), entries=made) is TraceStage.MISREAD


def test_the_copy_that_came_furthest_counts():
    again = ChatMessage("0.2.0.u", "user", "As a vegan I bake a lot.", (("diet_style", "vegan"),))
    writes = (WRITE, Write(1, 0, (again.id,), (1,)))
    made = [entry("is vegetarian"), entry("is vegan", 1, sources=(again.id,), written=1)]
    life = {"messages": (TOLD, REPLY, again), "writes": writes, "entries": made}
    assert stage_of(wrong(shown=[0]), **life) is TraceStage.UNRETRIEVED
    assert stage_of(wrong(shown=[0, 1]), **life) is TraceStage.MISREAD


def test_only_the_current_spell_of_a_value_counts():
    states = (NOW, NOW | {"diet_style": "vegetarian"}, NOW)
    truth = truth_of(states)
    asked = answer(truth, [0], probed=RIGHT, period=2)
    assert stage_of(asked, truth, entries=[entry(ABOUT_DIET)]) is TraceStage.UNSAID
    index = index_rollout(Rollout("p", "u", (TOLD,), (), (), (), ()))
    assert revealing_turns("diet_style", 0, index, truth) == (TOLD,)
    assert revealing_turns("diet_style", 2, index, truth) == ()


def test_what_was_told_or_written_after_the_answer_does_not_count():
    truth = truth_of((NOW, NOW))
    late = ChatMessage("1.0.0.u", "user", DIET, (("diet_style", "vegan"),))
    asked = answer(truth, probed=WRONG)
    assert stage_of(asked, truth, messages=(late,), writes=()) is TraceStage.UNSAID
    written_later = Write(0, 1, (TOLD.id,), (0,))
    made = [entry(ABOUT_DIET, period=1, sources=(TOLD.id,))]
    still_there = answer(truth, probed=WRONG, window=[TOLD.id])
    life = {"writes": [written_later], "entries": made}
    assert stage_of(still_there, truth, **life) is TraceStage.MISREAD
    assert stage_of(asked, truth, **life) is TraceStage.UNWRITTEN


def test_a_state_that_was_kept_is_named_only_if_all_were():
    truth = truth_of(required=(("kitchen_size", "diet_style"),))
    life = {"entries": [entry(ABOUT_DIET)], "messages": (TOLD, REPLY)}
    asked = answer(truth, shown=[0], probed=("tiny_kitchen", "vegan"))
    assert trace(truth, asked, **life) == (StateTrace("kitchen_size", TraceStage.UNSAID),)
    life["messages"] = (TOLD, REPLY, OTHER)
    asked = dataclasses.replace(asked, context=Context((0,), (OTHER.id,)))
    assert trace(truth, asked, **life) == (
        StateTrace("kitchen_size", TraceStage.UNUSED),
        StateTrace("diet_style", TraceStage.UNUSED),
    )


def test_chinese_memories_are_traced():
    schema = {"饮食习惯": ("素食", "纯素", "鱼素"), "通勤方式": ("骑自行车", "开车")}
    now = {"饮食习惯": "纯素", "通勤方式": "开车"}
    truth = truth_of((now,), (("饮食习惯",),), schema=schema)
    told = (("饮食习惯", "纯素"), ("通勤方式", "开车"))
    said = ChatMessage("0.0.0.u", "user", "凡是动物来的东西我都不碰，路上总是堵车。", told)

    def found(text, shown=(0,)):
        made = [entry(text, label="个人信息", sources=(said.id,))]
        asked = answer(truth, shown, probed=("素食",))
        written = Write(0, 0, (said.id,), (0,))
        return stage_of(asked, truth, messages=(said,), writes=[written], entries=made)

    assert found("用户是纯素者") is TraceStage.MISREAD
    assert found("用户是纯素者", ()) is TraceStage.UNRETRIEVED
    assert found("用户吃素食") is TraceStage.CORRUPTED
    assert found("平时开车上班") is TraceStage.UNWRITTEN
    assert found("饮食习惯有变化") is TraceStage.UNDECIDED
    assert found("路上总是堵车") is TraceStage.UNWRITTEN
    assert found("用户说：凡是动物来的东西我都不碰，路上总是堵车") is TraceStage.MISREAD


@pytest.mark.parametrize(
    ("truth", "change"),
    [
        (truth_of(), {"chosen": 0}),
        (truth_of(), {"chosen": None}),
        (truth_of(traceable=False), {}),
    ],
    ids=["right", "format", "not traceable"],
)
def test_no_trace(truth, change):
    assert trace(truth, dataclasses.replace(answer(truth, probed=WRONG), **change)) == ()


TEXTS = st.sampled_from(
    [ABOUT_DIET, "is vegetarian", "a tiny kitchen", "likes jazz", TOLD.content, DIET, "diet style"]
)


@st.composite
def lives(draw):
    """A truth, its rollout and a wrong answer, at random."""
    period = draw(st.integers(0, 2))
    diets = draw(st.lists(st.sampled_from(SCHEMA["diet_style"]), min_size=3, max_size=3))
    required = draw(st.sampled_from([("diet_style",), ("diet_style", "kitchen_size")]))
    truth = truth_of(tuple(NOW | {"diet_style": diet} for diet in diets), (required,))
    messages, writes, entries = [], [], []
    for at in range(3):
        told = (("diet_style", diets[at]), ("kitchen_size", "tiny_kitchen"))
        said = draw(st.lists(st.sampled_from(told), unique=True, max_size=2))
        messages.append(ChatMessage(f"{at}.0.0.u", "user", TOLD.content, tuple(said)))
        if draw(st.booleans()):
            number, text = len(writes), draw(TEXTS)
            made = entry(text, number, "", (messages[-1].id,), written=number, period=at)
            made = dataclasses.replace(made, label=draw(st.sampled_from(["", "food"])))
            writes.append(Write(number, at, made.sources, (number,)))
            entries.append(made)
    if len(writes) > 1 and draw(st.booleans()):
        entries[0] = dataclasses.replace(entries[0], retired=len(writes) - 1)
    shown = draw(st.lists(st.sampled_from(range(3)), unique=True, max_size=2))
    window = draw(st.lists(st.sampled_from([m.id for m in messages]), unique=True, max_size=2))
    value = st.sampled_from([*SCHEMA["diet_style"], "tiny_kitchen"])
    probed = draw(st.lists(value, min_size=len(required), max_size=len(required)))
    asked = answer(truth, shown, window, probed, period)
    rollout = Rollout("p", "u", tuple(messages), tuple(writes), tuple(entries), (asked,), ())
    return truth, rollout, asked


@given(lives())
def test_a_readable_wrong_answer_always_has_a_trace_of_required_states(life):
    truth, rollout, asked = life
    found = trace_answer(asked, index_rollout(rollout), truth)
    names = [lost.state for lost in found]
    assert names
    assert names == [name for name in truth.required[0] if name in names]
    unused = [lost.stage is TraceStage.UNUSED for lost in found]
    assert not any(unused) or (all(unused) and len(found) == len(truth.required[0]))
    assert all((lost.competing is None) or lost.stage is TraceStage.UNWRITTEN for lost in found)
    right_ones = {probe.state for probe in asked.probes if probe.right}
    assert all(
        (lost.state in right_ones) == (lost.stage is TraceStage.UNUSED)
        for lost in found
        if lost.stage in (TraceStage.MISREAD, TraceStage.UNUSED)
    )


@given(lives())
def test_more_context_never_moves_a_loss_to_an_earlier_step(life):
    truth, rollout, asked = life
    index = index_rollout(rollout)
    order = list(TraceStage).index
    seen = tuple(message.id for message in rollout.messages if message.id[0] <= str(asked.period))
    entries = tuple(e.id for e in rollout.entries if index.live(e, asked.period))
    fuller = dataclasses.replace(
        asked,
        context=Context((*asked.context.entries, *entries), (*asked.context.messages, *seen)),
    )
    before = {lost.state: lost.stage for lost in trace_answer(asked, index, truth)}
    after = {lost.state: lost.stage for lost in trace_answer(fuller, index, truth)}
    for state, stage in after.items():
        assert state not in before or order(stage) >= order(before[state])
    said = {pair for message in rollout.messages for pair in message.told}
    for state, stage in before.items():
        if stage is not TraceStage.UNSAID:
            assert (state, truth.states[asked.period][state]) in said
