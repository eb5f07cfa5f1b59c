"""Every way of probing is charged its calls, and no bound is below what is charged then."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.charges import Charges, Job
from evolve.gym.rollout import Span, World, planned_calls, share
from evolve.lm.offline import OfflineLM
from evolve.probing import MEASURED, Probing
from feedback.records import Compared, Rollout
from policies.policy import seed_policy

WORLD = World(OfflineLM(), OfflineLM(), 0)
AWI, AWE = seed_policy("awi"), seed_policy("awe")
POLICIES = [
    AWI,
    AWE,
    *(AWI.derive(settings={"max_memory_tokens": n}) for n in (500, 700)),
    AWI.derive({"answer_prompt": "{{memories}}"}),
]
SIZES = [(1, 1), (1, 3), (2, 2), (4, 4), (4, 1), (3, 5), (2, 6), (5, 2), (6, 3)]


def score(charges, jobs, differing=lambda job: 0):
    """Reserve and live jobs; what they were charged."""
    reserved = charges.settle(jobs)
    charges.begin(reserved)
    for one in reserved:
        joint = Compared(100, differing(one.job)) if one.probes == "both" else None
        lived = Rollout(one.job.policy.id, one.job.user.id, (), (), (), (), (), joint=joint)
        charges.end(one, lived)
    return reserved


def decided(people, differing):
    charges = Charges(Probing(["awi"]), WORLD)
    score(charges, [Job(AWI, user) for user in people(MEASURED)], lambda _: differing)
    return charges


def test_each_way_is_charged_its_share(people):
    (user,) = people(1, periods=4, questions=4)
    whole = planned_calls(user, WORLD)
    for probes, calls in (("single", 16), ("joint", 4), ("both", 20)):
        assert share(user, WORLD, Span(probes=probes)) == Fraction(whole - 16 + calls, whole)


@pytest.mark.parametrize("differing", [0, 50])
def test_a_decided_rollout_is_charged_as_it_is_lived(people, differing):
    users = people(MEASURED + 2)
    charges = decided(people, differing)
    (one,) = charges.settle([Job(AWI, users[-1])])
    assert one.probes == one.span.probes == ("single" if differing else "joint")
    assert one.charge == share(one.job.user, WORLD, one.span)


def test_reports_have_single_probes(people):
    charges = decided(people, 0)
    user = people(MEASURED + 1)[-1]
    (one,) = score(charges, [Job(AWI, user, single=True)])
    assert (one.probes, one.charge) == ("single", 1)
    # What was lived with joint probes is lived anew for a report: the cache has none of its own.
    again = people(MEASURED + 2)[-1]
    score(charges, [Job(AWI, again)])
    (one,) = charges.settle([Job(AWI, again, single=True)])
    assert (one.probes, one.charge) == ("single", 1)


def test_a_life_lived_already_is_probed_as_it_was_and_charged_its_answers(people):
    users = people(MEASURED + 1)
    charges = decided(people, 0)
    score(charges, [Job(AWI, users[-1])])
    same = POLICIES[-1]
    for user, probes in ((users[0], "single"), (users[-1], "joint")):
        (one,) = charges.settle([Job(same, user)])
        assert (one.probes, one.charge) == (
            probes,
            share(user, WORLD, Span(answers_only=True)),
        )


def test_answers_alone_are_never_measured(people):
    (one,) = Charges(Probing(["awi"]), WORLD).settle([Job(AWI, *people(1), Span(None, True))])
    assert one.probes == "single"


@settings(max_examples=80)
@given(st.data())
def test_no_bound_is_below_what_is_charged_then(people, data):
    """In whatever parts jobs are reserved, and whatever is found on the way."""
    users = [people(9, periods=p, questions=q)[n] for n, (p, q) in enumerate(SIZES)]
    charges = Charges(Probing(["awi", "awe"]), WORLD)
    jobs = data.draw(
        st.lists(
            st.builds(Job, st.sampled_from(POLICIES[:-1]), st.sampled_from(users)),
            unique_by=lambda job: job.key,
        )
    )
    before = data.draw(st.integers(0, len(jobs)))
    wrong = data.draw(st.sampled_from([{}, {POLICIES[2].id: 60}, {AWI.id: 60}]))

    def found(job):
        return wrong.get(job.policy.id, 0)

    score(charges, jobs[:before], found)
    rest, spent = jobs[before:], Fraction(0)
    bound = charges.most(rest)
    while rest:
        part = data.draw(st.integers(1, len(rest)))
        now = charges.settle(rest[:part])
        assert sum(one.charge for one in now) <= charges.most(rest[:part])
        spent += sum(one.charge for one in score(charges, rest[:part], found))
        rest = rest[part:]
    assert spent <= bound


@pytest.mark.parametrize("differing", [0, 50])
@pytest.mark.parametrize("before", range(MEASURED + 1))
def test_a_policy_to_come_is_bounded_whatever_its_architecture(people, before, differing):
    users = [people(9, periods=p, questions=q)[n] for n, (p, q) in enumerate(SIZES)]
    charges = Charges(Probing(["awi"]), WORLD)
    score(charges, [Job(AWI, user) for user in users[:before]], lambda _: differing)
    bound = charges.most_of_new([(user, Span()) for user in users])
    jobs = [Job(POLICIES[2], user) for user in users]
    parts = score(charges, jobs[:4]) + score(charges, jobs[4:])
    assert sum(one.charge for one in parts) <= bound <= len(users) + 4
    assert Charges(Probing(["awe"]), WORLD).most_of_new([(u, Span()) for u in users]) == 9
