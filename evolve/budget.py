"""The ledger: what a run may spend, checked and counted in one call."""

from __future__ import annotations

from fractions import Fraction

from policies.errors import BudgetExhaustedError


class Ledger:
    """Rollouts that a run may still spend.

    The unit is one full rollout; a partial one is charged its share of a full one's calls. A part
    can be set aside for the end, which ordinary reservations cannot touch.

    Args:
        total: Never exceeded.
        set_aside: For the final scoring.
    """

    def __init__(self, total: Fraction, set_aside: Fraction = Fraction(0)) -> None:
        self._total = total
        self._set_aside = set_aside
        self._spent = Fraction(0)

    @property
    def spent(self) -> Fraction:
        """Reserved so far."""
        return self._spent

    @property
    def left(self) -> Fraction:
        """What ordinary reservations may still take."""
        return self._total - self._set_aside - self._spent

    def reserve(self, amount: Fraction) -> None:
        """Take an amount before it is spent: check and count in one.

        Raises:
            BudgetExhaustedError: It is more than is left; nothing was taken.
            ValueError: It is negative.
        """
        if amount < 0:
            raise ValueError(f"a reservation is not negative, but is {amount}")
        if amount > self.left:
            asked, left = float(amount), float(self.left)
            raise BudgetExhaustedError(
                f"the next step costs {asked:.1f} rollouts and {left:.1f} are left"
            )
        self._spent += amount

    def open_set_aside(self) -> None:
        """Free what was set aside, for the final scoring."""
        self._set_aside = Fraction(0)
