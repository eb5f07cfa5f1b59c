"""The draft: what gained too little to be accepted is built on, for a while."""

from evolve.drafts import PATIENCE, Drafts
from policies.policy import seed_policy

BEST, ONE, TWO = (seed_policy(name) for name in ("awe", "awi", "rag"))


def test_without_a_draft_the_best_is_the_parent_and_minibatches_take_turns():
    drafts = Drafts()
    assert drafts.parent(BEST) == BEST
    assert drafts.close(accepted=False) == []
    assert drafts.turn == 1
    drafts.close(accepted=True)
    assert drafts.turn == 2


def test_the_best_of_a_generation_becomes_the_draft_on_the_same_minibatch():
    drafts = Drafts()
    assert drafts.offer(ONE, 0.1)
    assert drafts.offer(TWO, 0.2)
    assert drafts.close(accepted=False) == [ONE]
    assert drafts.parent(BEST) == TWO
    assert drafts.turn == 0


def test_a_better_one_takes_its_place_and_a_worse_one_does_not():
    drafts = Drafts()
    drafts.offer(ONE, 0.1)
    drafts.close(accepted=False)
    drafts.offer(TWO, 0.05)
    assert drafts.close(accepted=False) == [TWO]
    assert drafts.parent(BEST) == ONE
    drafts.offer(TWO, 0.2)
    assert drafts.close(accepted=False) == [ONE]
    assert drafts.parent(BEST) == TWO


def test_a_draft_that_comes_to_nothing_is_given_up():
    drafts = Drafts()
    drafts.offer(ONE, 0.1)
    drafts.close(accepted=False)
    for _ in range(PATIENCE - 1):
        assert drafts.close(accepted=False) == []
        assert drafts.parent(BEST) == ONE
    assert drafts.close(accepted=False) == [ONE]
    assert drafts.parent(BEST) == BEST
    assert drafts.turn == 1


def test_a_new_version_ends_it():
    drafts = Drafts()
    drafts.offer(ONE, 0.1)
    drafts.close(accepted=False)
    drafts.offer(TWO, 0.3)
    assert drafts.close(accepted=True) == [ONE, TWO]
    assert drafts.parent(BEST) == BEST
    assert drafts.turn == 1


def test_they_may_be_left_out():
    drafts = Drafts(used=False)
    assert not drafts.offer(ONE, 0.1)
    assert drafts.close(accepted=False) == []
    assert drafts.parent(BEST) == BEST
