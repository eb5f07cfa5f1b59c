"""Joint probes: what is asked once a period says of every question what its own probe would."""

import json
import re

import pytest

from evolve.gym.questions import joint_states
from evolve.gym.rollout import Span, World, live
from feedback.records import Compared
from policies.errors import OutsideFailureError, PolicyFailureError
from policies.policy import seed_policy

SINGLE, JOINT, BOTH = Span(probes="single"), Span(probes="joint"), Span(probes="both")


def states_in(request):
    """The states that a probe asks for, with their options."""
    block = re.search(r"<states>\n(.*?)\n</states>", request.messages[-1].content, re.DOTALL)
    return dict(line.split(": ", 1) for line in block[1].splitlines())


def first_options(request):
    """Says of every state its first option."""
    if request.task != "probe":
        return {"reply": "I see.", "user": "Right.", "write": "{}", "answer": "1"}[request.task]
    return json.dumps({name: said.split(" | ")[0] for name, said in states_in(request).items()})


def is_joint(user, request):
    return request.task == "probe" and len(states_in(request)) == len(joint_states(user, 0))


def lived(lm, user, span, architecture="awi"):
    return live(seed_policy(architecture), user, World(lm, lm, 1), span)


@pytest.mark.parametrize("architecture", ["none", "native", "awi"])
def test_a_model_that_says_the_same_gives_the_same_probes(sample_users, scripted, architecture):
    for user in sample_users[:2]:
        lm = scripted(first_options)
        single, joint, both = (lived(lm, user, s, architecture) for s in (SINGLE, JOINT, BOTH))
        assert both.answers == single.answers
        for one, other in zip(single.answers, joint.answers, strict=True):
            assert (one.probes, one.chosen) == (other.probes, other.chosen)
            assert one.probe_context == other.probe_context
            assert bool(other.probe_reply) == (other.question == 0)
        asked = sum(len(set(q.required)) for q in user.questions) * len(user.periods)
        assert (single.joint, joint.joint, both.joint) == (None, None, Compared(asked, 0))
        probes = [dict(r.usage)["probe"].calls for r in (single, joint, both)]
        periods = len(user.periods)
        assert probes == [periods * len(user.questions), periods, sum(probes[:2])]


def test_single_probes_count_and_what_differs_is_counted_beside_them(sample_users, scripted):
    user = sample_users[0]
    lm = scripted(lambda r: "{}" if is_joint(user, r) else first_options(r))
    both = lived(lm, user, BOTH)
    assert both.answers == lived(scripted(first_options), user, SINGLE).answers
    right = sum(probe.right for answer in both.answers for probe in answer.probes)
    assert (both.joint.differing, right > 0) == (right, True)


def test_a_state_that_cannot_be_read_is_a_format_error_of_its_own(sample_users, scripted):
    user = sample_users[0]
    lost = joint_states(user, 0)[0]

    def forgets(request):
        said = first_options(request)
        if request.task != "probe":
            return said
        return json.dumps({name: v for name, v in json.loads(said).items() if name != lost})

    for answer in lived(scripted(forgets), user, JOINT).answers:
        assert all(probe.format_error == (probe.state == lost) for probe in answer.probes)


def test_a_reply_without_an_object_is_asked_for_once_more(sample_users, scripted):
    user = sample_users[0]
    lm = scripted(lambda r: "Well." if r.task == "probe" else first_options(r))
    joint = lived(lm, user, JOINT)
    assert all(probe.format_error for answer in joint.answers for probe in answer.probes)
    assert len(lm.asked("probe")) == 2 * len(user.periods)


def failing(user, error):
    def fails(request):
        if is_joint(user, request):
            raise error
        return first_options(request)

    return fails


def test_what_cannot_be_asked_together_differs_and_fails_nothing(sample_users, scripted):
    user = sample_users[0]
    lm = scripted(failing(user, PolicyFailureError("too long")))
    both, joint = lived(lm, user, BOTH), lived(lm, user, JOINT)
    assert both.failure is None
    assert both.joint.differing > 0
    assert (joint.failure_kind, joint.answers) == ("policy", ())


@pytest.mark.parametrize("span", [JOINT, BOTH])
def test_an_outage_fails_the_rollout(sample_users, scripted, span):
    user = sample_users[0]
    rollout = lived(scripted(failing(user, OutsideFailureError("down"))), user, span)
    assert (rollout.failure_kind, rollout.answers) == ("outside", ())
