"""What is asked, and in which order choices are shown."""

import math
import re
from collections import Counter
from dataclasses import replace

import pytest

from evolve.gym.people import Choice, Question
from evolve.gym.questions import (
    answer_query,
    bound_request,
    choice_order,
    joint_probe_query,
    joint_states,
    probe_query,
)
from evolve.lm.base import CAPS


@pytest.fixture
def user(people):
    """Has a question with two states, odd spaces, and a state that is required twice."""
    (ann,) = people(1)
    choices = tuple(
        Choice((drink, pet, drink), f"Have {drink}\n  with the {pet}.")
        for drink in ("green  tea", "milk")
        for pet in ("cat", "dog")
    )
    return replace(
        ann,
        schema={"hot_drink": ("green  tea", "milk"), "pet": ("cat", "dog")},
        questions=(Question("What now?", ("hot_drink", "pet", "hot_drink"), choices),),
    )


def test_an_order_shows_every_choice_once_and_never_changes(sample_users):
    for user in sample_users:
        for number, question in enumerate(user.questions):
            order = choice_order(1, user, number, 0)
            assert sorted(order) == list(range(len(question.choices)))
            assert choice_order(1, user, number, 0) == order


def test_each_seed_user_question_and_period_has_an_order_of_its_own(sample_users):
    user, other = sample_users[:2]
    for places in (
        [(seed, user, 0, 0) for seed in range(40)],
        [(1, user, 0, period) for period in range(40)],
        [(seed, person, 0, 0) for seed in range(20) for person in (user, other)],
        [(seed, user, number, 0) for seed in range(20) for number in range(2)],
    ):
        assert len({choice_order(*place) for place in places}) > 10


def test_no_position_tells_the_answer(sample_users):
    """Each choice stands at each position equally often (chi-squared, far from its tail)."""
    user = sample_users[0]
    size, draws = len(user.questions[0].choices), 3000
    counts = Counter(
        (position, choice)
        for seed in range(draws)
        for position, choice in enumerate(choice_order(seed, user, 0, seed % 8))
    )
    expected = draws / size
    squared = sum((counts[p, c] - expected) ** 2 for p in range(size) for c in range(size))
    freedom = (size - 1) ** 2
    assert squared / expected < freedom + 4 * math.sqrt(2 * freedom)


def test_a_question_shows_its_choices_in_order_on_a_line_each(user):
    query = answer_query(1, user, 0, (2, 0, 3, 1))
    assert query.task == "answer"
    assert "<question>\nWhat now?\n</question>" in query.prompt
    assert (
        "<choices>\n1. Have milk with the cat.\n2. Have green tea with the cat.\n"
        "3. Have milk with the dog.\n4. Have green tea with the dog.\n</choices>"
    ) in query.prompt
    assert '{"answer": N}' in query.prompt
    assert "What now?" in query.search


def test_what_is_searched_for_does_not_depend_on_the_order(user):
    searches = {answer_query(1, user, 0, order).search for order in ((0, 1, 2, 3), (3, 2, 1, 0))}
    assert len(searches) == 1


def test_a_probe_lists_each_state_once_with_all_its_values(user):
    query = probe_query(1, user, 0)
    assert query.task == "probe"
    assert "<states>\nhot_drink: green tea | milk\npet: cat | dog\n</states>" in query.prompt
    assert query.search == "hot drink pet"


def test_a_joint_probe_lists_the_states_of_all_questions_once_in_the_same_words(sample_users):
    for user in sample_users:
        query = joint_probe_query(1, user, 0)
        singles = [probe_query(1, user, number) for number in range(len(user.questions))]
        lines = {line for one in singles for line in one.prompt.splitlines()}
        assert sorted(lines) == sorted(query.prompt.splitlines())
        assert len(joint_states(user, 0)) == len(query.prompt.splitlines()) - 4
        assert (query.task, query.rules) == (singles[0].task, singles[0].rules)
        assert query == joint_probe_query(1, user, 0) != joint_probe_query(2, user, 0)


def test_a_joint_probe_has_room_for_every_state(sample_users, user):
    assert joint_probe_query(1, user, 0).max_tokens == CAPS["probe"]
    for one in sample_users:
        states = len(joint_states(one, 0))
        assert states > 2
        assert joint_probe_query(1, one, 0).max_tokens >= states * CAPS["probe"] / 2


def test_a_guess_is_fixed_per_run_user_and_question(sample_users):
    user, other = sample_users[:2]
    assert answer_query(1, user, 0, (1, 0)).seed == probe_query(1, user, 0).seed
    seeds = {
        probe_query(seed, person, number).seed
        for seed in (1, 2)
        for person in (user, other)
        for number in (0, 1)
    }
    assert len(seeds) == 8


def test_a_bound_gives_the_values_and_asks_the_same_question(user):
    order = (2, 0, 3, 1)
    request = bound_request(1, user, 0, ("green  tea", "dog", "green  tea"), order)
    query = answer_query(1, user, 0, order)
    system, last = request.messages
    assert request.task == "bound"
    assert (last.content, request.seed) == (query.prompt, query.seed)
    facts = re.search("<facts>\n(.*)\n</facts>", system.content, re.DOTALL)
    assert facts is not None
    assert facts[1] == "- hot_drink: green tea\n- pet: dog"
