"""The ledger never lets more be spent than there is."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.budget import Ledger
from policies.errors import BudgetExhaustedError

amounts = st.fractions(0, 3, max_denominator=97)


@given(st.fractions(0, 20), st.fractions(0, 5), st.lists(amounts), st.lists(amounts))
def test_never_more_than_the_total_and_exactly_what_was_taken(total, kept, before, after):
    ledger = Ledger(total, kept)
    taken = Fraction(0)
    for opened, wanted in ((False, before), (True, after)):
        if opened:
            ledger.open_set_aside()
        for amount in wanted:
            room = total - taken - (0 if opened else kept)
            if amount <= room:
                ledger.reserve(amount)
                taken += amount
            else:
                with pytest.raises(BudgetExhaustedError):
                    ledger.reserve(amount)
            assert ledger.spent == taken <= total or taken == 0
            assert ledger.left == total - taken - (0 if opened else kept)


def test_thirds_add_up_exactly():
    ledger = Ledger(Fraction(1))
    for _ in range(3):
        ledger.reserve(Fraction(1, 3))
    assert ledger.left == 0
    ledger.reserve(Fraction(0))
    with pytest.raises(BudgetExhaustedError):
        ledger.reserve(Fraction(1, 10**9))


def test_what_is_set_aside_is_there_at_the_end():
    ledger = Ledger(Fraction(10), Fraction(4))
    ledger.reserve(Fraction(6))
    with pytest.raises(BudgetExhaustedError, match=r"costs 1\.0 rollouts and 0\.0 are left"):
        ledger.reserve(Fraction(1))
    ledger.open_set_aside()
    ledger.reserve(Fraction(4))
    assert (ledger.spent, ledger.left) == (10, 0)


def test_nothing_is_given_back():
    with pytest.raises(ValueError, match="-1"):
        Ledger(Fraction(1)).reserve(Fraction(-1))
