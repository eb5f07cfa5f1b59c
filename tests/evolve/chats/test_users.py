"""Users made of chats and probes: who is asked what, when, and what a diagnosis says."""

import json
from dataclasses import replace

import pytest

from evolve.chats.users import users_of_chats
from evolve.gym.bounds import bound_user
from evolve.gym.own_words import ANOTHER
from evolve.gym.rollout import Span, World, live, planned_calls
from evolve.lm.base import Completion
from evolve.lm.offline import OfflineLM
from feedback.diagnosis import diagnose
from policies.errors import EnvironmentFileError
from policies.policy import ARCHITECTURES, seed_policy


@pytest.fixture
def ann(chats, probes):
    return users_of_chats(chats.talks, probes)[1]


def test_days_of_probes_part_the_periods(chats, probes):
    seven, ann = users_of_chats(chats.talks, probes)
    assert [period.end for period in ann.periods] == ["2024-03-01", "2024-06-10"]
    assert [dict(period.state) for period in ann.periods] == [
        {"home": "Lyon", "diet": "vegan"},
        {"home": "Lille", "diet": "vegan"},
    ]
    assert [set(period.updated) for period in ann.periods] == [set(), {"home"}]
    assert [[len(session) for session in period] for period in ann.recorded] == [[3], [1]]
    first = ann.recorded[0][0][0]
    assert first.id == "0.0.0.u"
    assert first.content.startswith("[Current Time: 2024-03-01 10:00:00]\nI moved")
    assert [period.end for period in seven.periods] == ["2024-04-02"]


def test_a_talk_after_the_last_probe_makes_a_period_of_its_own(chats, probes):
    early = [probe for probe in probes if probe.expected == "vegan"]
    (ann,) = users_of_chats(chats.talks, early)
    assert [period.end for period in ann.periods] == ["2024-03-01", "2024-06-10"]
    assert ann.questions[0].periods == {0, 1}
    assert ann.periods[1].updated == set()


def test_what_is_not_known_yet_is_not_asked(chats, probes):
    late = [replace(probes[1]), probes[2]]
    (ann,) = users_of_chats(chats.talks, late)
    assert [ann.asked_in(period) for period in (0, 1)] == [(1,), (0, 1)]
    assert ann.periods[1].updated == {"home"}
    rollout = live(seed_policy("native"), ann, _world())
    assert len(diagnose(rollout, ann.truth())) == 3


def test_questions_without_choices_are_in_own_words(ann):
    home, diet = ann.questions
    assert home.own_words
    assert not diet.own_words
    assert home.choices[-1] == ANOTHER
    assert [choice.state for choice in home.choices] == [("Lyon",), ("Lille",), ()]
    assert ann.schema == {"home": ("Lyon", "Lille"), "diet": ("vegan", "meat")}
    assert ann.probed_in(0) == (1,)


def _world(script=None):
    lm = OfflineLM()
    return World(script or lm, lm, 1)


class Says:
    """Answers questions in own words by number of the call, and chooses the first."""

    name = "says"

    def __init__(self, *answers):
        self._answers = list(answers)

    def complete(self, request):
        if request.task == "probe":
            return Completion('{"diet": "vegan"}', 1, 1)
        own = "<choices>" not in request.messages[-1].content
        return Completion(json.dumps({"answer": self._answers.pop(0) if own else 1}), 1, 1)


@pytest.mark.parametrize(
    ("answers", "stages"),
    [
        (["Lyon", "In Lille."], ["right", "right"]),
        (["unknown", "Lyon"], ["write", "write"]),
        (["Lyon", "still Lyon"], ["right", "write"]),
        (["Lyon or Lille", "lille"], ["write", "right"]),
    ],
)
def test_own_words_are_their_own_probe(ann, answers, stages):
    user = replace(ann, questions=ann.questions[:1])
    rollout = live(seed_policy("none"), user, _world(Says(*answers)))
    found = diagnose(rollout, user.truth())
    assert [one.stage.value for one in found] == stages
    assert {one.guessed for one in found} == {0.0}
    assert sum(one.unknown_probes for one in found) == answers.count("unknown")


def test_a_later_wrong_answer_is_a_read_failure(chats, probes):
    (ann,) = users_of_chats(chats.talks, [probes[0]])
    rollout = live(seed_policy("none"), ann, _world(Says("Lyon", "Paris")))
    assert [one.stage.value for one in diagnose(rollout, ann.truth())] == ["right", "read"]


@pytest.mark.parametrize("probing", ["single", "joint", "both"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_is_asked_all(ann, architecture, probing):
    if architecture == "mem0":
        pytest.importorskip("mem0", reason="mem0ai is not installed: make test-extras has it")
    rollout = live(seed_policy(architecture), ann, _world(), Span(probes=probing))
    assert rollout.failure is None
    assert [(one.period, one.question) for one in rollout.answers] == [
        *((0, 0), (0, 1), (1, 0), (1, 1))
    ]
    stages = {one.stage.value for one in diagnose(rollout, ann.truth()) if one.question == 0}
    assert "utilization" not in stages


def test_mistakes(chats, probes):
    home, moved, diet, _ = probes
    wrong = [
        ([replace(home, user="bob")], "must be one of the chats"),
        ([replace(home, since=home.since.replace(year=2023))], "must not be before"),
        (
            [replace(home, expected="C"), replace(moved, expected="C++")],
            '"C\\+\\+" has the same as "C"',
        ),
        ([home, replace(moved, accept=("the Lyon",))], '"the Lyon" has the same as "Lyon"'),
        ([home, replace(moved, since=home.since)], 'an earlier probe says "Lyon"'),
        (
            [
                diet,
                replace(diet, since=moved.since, choices={"vegan": "Rice.", "meat": "A steak."}),
            ],
            "another answer",
        ),
    ]
    for some, told in wrong:
        with pytest.raises(EnvironmentFileError, match=told):
            users_of_chats(chats.talks, some)


def test_bounds_and_charges(ann):
    world = _world()
    bounds, _ = bound_user(ann, world.lm, 1)
    assert set(bounds) == {(ann.id, period, number) for period in (0, 1) for number in (0, 1)}
    assert {bounds[ann.id, period, 0] for period in (0, 1)} == {1.0}  # told the value, it says it
    assert planned_calls(ann, world) == 4 + 2  # an answer in own words is its own probe
    assert planned_calls(ann, world, Span(probes="joint")) == 4 + 2
    assert planned_calls(ann, world, Span(answers_only=True)) == 4
