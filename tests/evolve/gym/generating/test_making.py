"""All users: what fails is reported and tried anew, the others stay; what ends all ends at once."""

from __future__ import annotations

import pytest

from evolve.gym.generating.making import Workshop, reasons
from evolve.gym.generating.parts import opened
from evolve.gym.generating.rehearsed import step_of
from policies.errors import (
    GenerationError,
    ModelError,
    OutsideFailureError,
    PolicyFailureError,
    RunStoppedError,
)


@pytest.fixture
def workshop(tmp_path, brief, scripted):
    """Makes workshops over one folder, one user at a time, with a model spoiled as is said."""

    def make(lines=None, **spoils):
        _, lm = scripted(**spoils)
        say = (lambda line: None) if lines is None else lines.append
        return Workshop(brief, lm, parts, 1, say)

    with opened(tmp_path / "travel.parts", brief, "m") as parts:
        yield make


class Failing:
    """An LM that raises an error at one user's profile, and passes on all else."""

    name = "failing"

    def __init__(self, lm, nth, error):
        self.lm, self.nth, self.error = lm, nth, error

    def complete(self, request):
        if step_of(request)[0] == "profile":
            self.nth -= 1
            if self.nth == -1:
                raise self.error
        return self.lm.complete(request)


def failing(workshop, nth, error):
    shop = workshop()
    return Workshop(shop.brief, Failing(shop.lm, nth, error), shop.parts, 1, shop.say)


def wrong_second_user(nth, right):
    return right if nth == 0 else {"profile": {}}


def test_a_failed_user_is_reported_and_the_others_stay(workshop):
    lines = []
    made = workshop(lines, profile=lambda nth, right: {} if 1 <= nth <= 4 else right).make(3)
    ids = [user["id"] for user in made.users]
    assert ids == ["travel-assistant-0-0000", "travel-assistant-0-0002"]
    (failed,) = made.failed
    assert failed.index == 1
    assert reasons(made.failed)[0].startswith("user 1 is missing: profile: after 4 tries")
    assert lines[1:] == [
        "users: 3 to make, 1 at a time",
        "user 0: made",
        "user 1: failed",
        "user 2: made",
    ]


def test_what_is_made_is_not_made_again_and_what_failed_is_drawn_anew(workshop):
    first = workshop(profile=wrong_second_user)
    before = first.make(2)
    second = workshop()
    after = second.make(2)
    assert after.users[0] == before.users[0]
    assert (len(after.users), after.failed) == (2, ())
    assert second.lm.asked["states"] == 0
    assert second.lm.asked["profile"] == 1
    old, new = first.lm.requests["profile"][1], second.lm.requests["profile"][0]
    assert old.seed != new.seed  # else a log of calls would give the reply that failed


def test_more_users_can_be_added(workshop):
    few = workshop().make(1)
    more = workshop().make(3)
    assert more.users[0] == few.users[0]
    assert len(more.users) == 3


def test_users_do_not_depend_on_how_many_there_are_or_how_many_at_once(
    workshop, tmp_path, brief, scripted
):
    alone = workshop().make(3)
    with opened(tmp_path / "other.parts", brief, "m") as parts:
        together = Workshop(brief, scripted()[1], parts, 3, lambda line: None).make(3)
    assert together == alone


def test_a_failure_from_outside_is_no_try_of_the_user(workshop):
    made = failing(workshop, 1, OutsideFailureError("the network is down")).make(2)
    assert [one.reason for one in made.failed] == ["the network is down"]
    assert workshop().parts.failures("user-0001") == 0
    assert workshop().make(2).failed == ()


def test_a_prompt_that_is_refused_is_one(workshop):
    made = failing(workshop, 0, PolicyFailureError("content refused")).make(2)
    assert [one.index for one in made.failed] == [0]
    assert workshop().parts.failures("user-0000") == 1


def test_a_model_that_takes_no_call_ends_all_users_at_once(workshop):
    shop = failing(workshop, 1, ModelError("The key is wrong; mend it."))
    with pytest.raises(ModelError):
        shop.make(4)
    assert shop.lm.nth == -1  # no profile was asked for after that
    assert shop.parts.user(0) is not None


def test_kinds_of_state_that_cannot_be_written_end_it_with_a_sentence(workshop):
    with pytest.raises(GenerationError, match=r"could not write them \(states: after 4 tries"):
        workshop(states=lambda nth, right: "").make(1)
    assert workshop().parts.failures("states") == 1
    assert workshop().make(1).users


def test_stopping_keeps_what_is_made(workshop):
    shop = workshop()
    stopped = Workshop(
        shop.brief, shop.lm, shop.parts, 1, shop.say, asked=lambda: shop.lm.asked["profile"] >= 2
    )
    with pytest.raises(RunStoppedError):
        stopped.make(4)
    assert shop.parts.user(0) is not None
    assert shop.parts.user(1) is None
    assert shop.parts.failures("user-0001") == 0
    assert len(workshop().make(4).users) == 4
