"""Upper bounds: what the model answers when it is told the truth."""

import json
import re

from evolve.gym.bounds import bound_user
from evolve.gym.questions import answer_query, choice_order
from feedback.records import Usage

SEED = 5


def knowing(user):
    """A model that looks the facts up in the choices of the user's questions."""

    def answer(request):
        system, last = (message.content for message in request.messages)
        given = dict(re.findall("^- (.*?): (.*)$", system, re.MULTILINE))
        shown = dict(re.findall(r"^(\d+)\. (.*)$", last, re.MULTILINE))
        (asked,) = [q for q in user.questions if f"<question>\n{q.query}\n" in last]
        (fitting,) = [
            " ".join(choice.answer.split())
            for choice in asked.choices
            if choice.state == tuple(given[name] for name in asked.required)
        ]
        return json.dumps({"answer": next(n for n, text in shown.items() if text == fitting)})

    return answer


def test_a_model_that_understands_is_right_everywhere(sample_users, scripted):
    for user in sample_users:
        bounds, _ = bound_user(user, scripted(knowing(user)), SEED)
        places = [(user.id, p, q) for p in range(len(user.periods)) for q in range(8)]
        assert bounds == dict.fromkeys(places, 1.0)


def test_each_is_asked_once_in_the_answers_own_order(people, scripted):
    (user,) = people(1, periods=40, questions=2)  # two values, so few things to ask
    lm = scripted(knowing(user))
    bounds, usage = bound_user(user, lm, SEED)
    wanted = {
        answer_query(SEED, user, q, choice_order(SEED, user, q, p)).prompt
        + user.periods[p].state["drink"]
        for p in range(40)
        for q in range(2)
    }
    asked = [
        r.messages[-1].content + r.messages[0].content.split("drink: ")[1][0] for r in lm.requests
    ]
    assert sorted(asked) == sorted(wanted)
    assert len(bounds) == 80 > len(asked)
    assert {r.task for r in lm.requests} == {"bound"}
    ((role, spent),) = usage
    assert (role, spent.calls) == ("bound", len(asked))
    assert isinstance(spent, Usage)


def test_what_cannot_be_read_or_is_wrong_is_zero(people, scripted):
    (user,) = people(1)
    assert set(bound_user(user, scripted(lambda _: "Sorry."), SEED)[0].values()) == {0.0}
    known = knowing(user)
    wrong = scripted(lambda r: json.dumps({"answer": 3 - int(json.loads(known(r))["answer"])}))
    assert set(bound_user(user, wrong, SEED)[0].values()) == {0.0}


def test_a_part_of_what_is_understood(people, scripted):
    """A model that always takes the first choice is right where the order puts it there."""
    (user,) = people(1)
    bounds, _ = bound_user(user, scripted(lambda _: "1"), SEED)
    for (_, period, question), right in bounds.items():
        first = choice_order(SEED, user, question, period)[0]
        right_choice = user.questions[question].right_choice(user.periods[period].state)
        assert right == float(first == right_choice)
    assert 0 < sum(bounds.values()) < len(bounds)
