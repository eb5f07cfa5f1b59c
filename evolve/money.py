"""The dollars of a run: what evolution may spend, what is kept for the end, and when they end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from evolve.journal import Journal
from policies.errors import BudgetExhaustedError

if TYPE_CHECKING:
    from evolve.lm.calls import Spend
    from evolve.lm.models import Connection

Result = TypeVar("Result")

_TOLD_AT = (0.5, 0.8)
_END = ("exhausted", "dollars")


@dataclass(frozen=True, slots=True)
class Dollars:
    """A budget in dollars, settled once per run.

    Attributes:
        budget: Never exceeded.
        kept: Of it for the final scoring.
    """

    budget: float
    kept: float


@dataclass(frozen=True, slots=True)
class Paid:
    """What a run has paid.

    Attributes:
        spends: Role to what it cost.
        prefixes: Role to the share of its prompt tokens that this process had sent before in the
            same place, which a provider's prompt cache can serve.
    """

    spends: Mapping[str, Spend]
    prefixes: Mapping[str, float]

    @classmethod
    def of(cls, connection: Connection) -> Self:
        """Until now."""
        return cls(connection.log.spent(), connection.prefixes.shares())

    @property
    def dollars(self) -> float | None:
        """In all; None if a call was unpriced."""
        known = [spend.dollars for spend in self.spends.values()]
        return None if None in known else sum(each or 0.0 for each in known)

    @property
    def line(self) -> str:
        """In one line."""
        calls = sum(spend.calls for spend in self.spends.values())
        cached = sum(spend.cached for spend in self.spends.values())
        cost = "unpriced" if self.dollars is None else money(self.dollars)
        return f"{calls} calls, {cached} more answered by earlier replies; {cost}"

    def summary(self) -> dict[str, dict[str, float | None]]:
        """By role, without times, which differ from run to run."""
        return {
            role: {
                "calls": spend.calls,
                "cached": spend.cached,
                "prompt_tokens": spend.prompt_tokens,
                "completion_tokens": spend.completion_tokens,
                "dollars": spend.dollars,
            }
            for role, spend in self.spends.items()
        }


class Purse:
    """Watches over a run's dollars; a run without a budget in dollars has nothing to watch.

    Args:
        connection: Whose spend is limited; None if no model is real.
        dollars: The budget; None for one in rollouts.
        say: Tells the watcher a line.
    """

    def __init__(
        self,
        connection: Connection | None,
        dollars: Dollars | None,
        say: Callable[[str], None],
    ) -> None:
        self._connection = connection
        self._dollars = dollars
        self._say = say
        self._told_at: tuple[float, ...] = ()
        if connection is not None and dollars is not None:
            connection.limits.spend_limit = dollars.budget - dollars.kept
            # What was told before a resume is not told again.
            self._told_at = tuple(s for s in _TOLD_AT if self._spent < s * dollars.budget)

    def open_kept(self) -> None:
        """Free what was kept, for the final scoring."""
        if self._connection is not None and self._dollars is not None:
            self._connection.limits.spend_limit = self._dollars.budget

    def look(self) -> None:
        """Say once each that half and four fifths of the dollars are spent."""
        while self._dollars and self._told_at:
            share, *later = self._told_at
            if self._spent < share * self._dollars.budget:
                return
            self._told_at = tuple(later)
            self._say(f"{share:.0%} of the budget of {money(self._dollars.budget)} is spent")

    @property
    def _spent(self) -> float:
        return (self._connection.log.dollars or 0.0) if self._connection else 0.0


def paid(journal: Journal, results: Iterable[Result]) -> Iterator[Result]:
    """Results that are paid for, as they come: that the dollars ended is an event, too.

    So a resumed run, which finds more replies in its log than it had, ends where it ended before.
    Nothing of this is looked at before the first result is asked for.

    Raises:
        BudgetExhaustedError: The dollars ended, now or in the journal.
    """
    if journal.next_is(*_END):
        raise BudgetExhaustedError(journal.once(*_END, str))
    try:
        yield from results
    except BudgetExhaustedError as error:
        reason = str(error)
    else:
        return
    raise BudgetExhaustedError(journal.once(*_END, lambda: reason))


def once_paid(journal: Journal, kind: str, key: str, make: Callable[[], Any]) -> Any:
    """``Journal.once`` of one thing that is paid for; raises as ``paid``."""
    if journal.next_is(kind, key):
        return journal.once(kind, key, make)
    (made,) = paid(journal, (make() for _ in range(1)))
    return journal.once(kind, key, lambda: made)


def money(dollars: float) -> str:
    """Dollars as people write them; of less than ten cents two digits that count."""
    return f"${dollars:.2f}" if dollars >= 0.1 or not dollars else f"${dollars:.2g}"
