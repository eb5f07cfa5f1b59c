"""Whether joint probes are used: by what was measured, and by nothing else."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.probing import BOUND, MEASURED, Probing, is_same, most_measured, share_of, told
from feedback.records import Compared, Rollout
from policies.policy import BUILT_IN, seed_policy

AWI, AWE, NATIVE = (seed_policy(name) for name in ("awi", "awe", "native"))
OTHER = AWI.derive({"answer_prompt": "{{memories}}"})


def rollout(joint=None, failure=None):
    return Rollout("p", "u", (), (), (), (), (), failure=failure, joint=joint)


def lived(probing, policies, found):
    """Reserve rollouts together; each that is probed both ways finds the next of what is found."""
    modes = probing.modes(policies)
    for policy, mode in zip(policies, modes, strict=True):
        probing.begin(policy, mode)
    for policy, mode in zip(policies, modes, strict=True):
        one = rollout(next(found) if mode == "both" else None)
        probing.end(policy, mode, one)
    return modes


def same(count=100):
    return iter([Compared(count, 0)] * 99)


counts = st.builds(
    lambda compared, share: Compared(compared, int(compared * share)),
    st.integers(0, 500),
    st.sampled_from([0.0, 0.01, 0.02, 0.021, 0.3, 1.0]),
)


@given(st.lists(counts, min_size=MEASURED, max_size=MEASURED), st.permutations(range(MEASURED)))
def test_the_decision_depends_on_the_counts_alone(found, order):
    told_of = []
    one, other = Probing(["awi"], told_of.append), Probing(["awi"])
    lived(one, [AWI] * MEASURED, iter(found))
    for place in order:  # one by one, in another order
        lived(other, [AWI], iter([found[place]]))
    total = sum(found, Compared())
    expected = "joint" if is_same(total) else "single"
    assert one.settled("awi") == other.settled("awi") == expected
    assert one.summary() == other.summary()
    assert one.summary()["awi"]["mode"] == expected
    assert told_of == [told("awi", total)]


def test_the_bound_itself_is_the_same_and_nothing_compared_is_not():
    at = Fraction(BOUND).limit_denominator(1000)
    assert is_same(Compared(at.denominator, at.numerator))
    assert not is_same(Compared(at.denominator, at.numerator + 1))
    assert (is_same(Compared()), share_of(Compared())) == (False, None)


def test_until_it_is_decided_all_but_the_first_are_single():
    probing = Probing(["awi"])
    assert probing.modes([AWI] * 5) == ["both"] * MEASURED + ["single"] * (5 - MEASURED)
    assert lived(probing, [AWI], same()) == ["both"]
    assert probing.summary()["awi"]["mode"] == "measuring"
    assert probing.modes([AWI] * 5) == ["both"] * (MEASURED - 1) + ["single"] * (6 - MEASURED)
    assert probing.settled("awi") == "single"


def test_once_decided_each_further_policy_is_looked_at_once():
    probing = Probing(["awi"])
    lived(probing, [AWI] * MEASURED, same())
    assert lived(probing, [AWI, OTHER, OTHER], same()) == ["joint", "both", "joint"]
    assert lived(probing, [OTHER, AWI], same()) == ["joint", "joint"]


def test_a_policy_that_differs_ends_joint_probes_for_good():
    said = []
    probing = Probing(["awi"], said.append)
    lived(probing, [AWI] * MEASURED, same())
    lived(probing, [OTHER], iter([Compared(100, 40)]))
    assert lived(probing, [AWI, OTHER, OTHER.derive(name="x")], same()) == ["single"] * 3
    assert not probing.may_save("awi")
    assert [line.partition(" differ")[0] for line in said] == [
        "probes of awi: 0 of 300",
        "probes of awi: 40 of 400",
    ]


def test_a_failed_rollout_says_nothing_and_is_not_replaced():
    probing = Probing(["awi"])
    for _ in range(MEASURED):
        probing.begin(AWI, "both")
        probing.end(AWI, "both", rollout(Compared(10, 0), failure="down"))
    assert probing.modes([AWI]) == ["single"]
    assert probing.summary()["awi"] == {
        "compared": 0, "differing": 0, "share": None, "mode": "single"
    }  # fmt: skip


@pytest.mark.parametrize("architectures", [(), ("awe",), ("awi",), BUILT_IN])
def test_only_what_shows_the_same_whatever_is_asked_is_measured(architectures):
    probing = Probing(architectures)
    modes = dict(zip("ewn", probing.modes([AWE, AWI, NATIVE]), strict=True))
    assert modes["e"] == "single"
    assert (modes["w"] == "both") == ("awi" in architectures)
    assert (modes["n"] == "both") == ("native" in architectures)
    assert probing.summary() == {}


def test_what_a_plan_must_allow_for():
    assert most_measured("awe", ["awe"]) == 0
    assert most_measured("awi", ["awi"]) == most_measured("awe", BUILT_IN) == MEASURED + 1
    assert most_measured("awi", BUILT_IN) == 2 * (MEASURED + 1)


def test_what_is_said():
    assert told("awi", Compared(480, 2)) == (
        "probes of awi: 2 of 480 differ when a period's states are asked in one call, so they are "
        "(bound 2 %)"
    )
    assert told("native", Compared(480, 90)).endswith(
        "asked in one call, so each question keeps its own (bound 2 %)"
    )
