"""Wrong answers as the page has them."""

import json

import pytest

from evolve.results.curves import cohort_of
from evolve.results.failures import failures_of
from evolve.results.run_record import read_run
from feedback.records import Stage


@pytest.fixture(scope="module")
def record(made):
    return read_run(made / "runs" / "mine")


@pytest.fixture(scope="module")
def cohort(record):
    return cohort_of(record)


def test_every_wrong_answer_of_a_policy_that_remembers_is_there(record, cohort):
    found = failures_of(record, cohort)
    names = found.data["policies"]
    assert names == [name for name in cohort.answers if name != "none"]
    told = {
        (names[life["policy"]], found.data["users"][life["user"]]["id"], w["period"], w["question"])
        for life in found.data["lives"]
        for w in life["wrong"]
    }
    wrong = {
        (name, d.user, d.period, d.question)
        for name in names
        for d in cohort.answers[name]
        if d.stage is not Stage.RIGHT
    }
    assert told == wrong
    assert (found.wrong, found.left_out) == (len(wrong), 0)
    assert json.loads(json.dumps(found.data)) == found.data


def test_a_wrong_answer_is_told_from_what_was_said_to_what_was_answered(record, cohort):
    data = failures_of(record, cohort).data
    life, wrong = next(
        (life, wrong)
        for life in data["lives"]
        for wrong in life["wrong"]
        if life["policy"] == 0 and wrong["states"][0]["competing"] is not None
    )
    user = data["users"][life["user"]]
    rollout = record.rollouts[record.seed.id, user["id"]]
    state = wrong["states"][0]
    truth = next(one for one in record.users if one.id == user["id"]).truth()
    assert state["true"] == truth.states[wrong["period"]][state["name"]]
    place, time, words = life["turns"][state["said"][-1]]
    message = next(message for message in rollout.messages if message.id == place)
    assert (state["name"], state["true"]) in message.told
    assert time
    assert words[:20] in " ".join(message.content.split())
    assert "[" not in words[:1]  # the time stands by itself
    assert (wrong["step"], state["step"]) == ("unwritten", "unwritten")
    assert wrong["chosen"] != wrong["right"] < len(user["choices"][wrong["question"]])


def test_entries_have_the_periods_that_they_are_in_memory_for(record, cohort):
    for life in failures_of(record, cohort).data["lives"]:
        assert all(gone is None or gone >= since for _, _, since, gone, _ in life["memory"])
        assert all(place < len(life["memory"]) for w in life["wrong"] for place in w["shown"])
        assert all(place < len(life["memory"]) for some in life["about"].values() for place in some)


def test_whole_users_are_left_out_where_there_is_no_room(record, cohort):
    everything = failures_of(record, cohort)
    part = failures_of(record, cohort, most_bytes=1)
    assert len(part.data["users"]) == 1 < len(everything.data["users"])
    assert part.wrong + part.left_out == everything.wrong
