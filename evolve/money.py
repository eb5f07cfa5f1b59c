"""What a run may spend: its budget watched in every unit, what is kept for the end, how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from evolve.journal import Journal
from evolve.lm.allowance import Allowance, Caps
from evolve.units import Amounts, shown
from evolve.workers import Workers
from policies.errors import BudgetExhaustedError

if TYPE_CHECKING:
    from evolve.lm.calls import Spend
    from evolve.lm.models import Connection

Result = TypeVar("Result")

SENT_FILE = "sent"  # in a run folder: one byte for every try of a call
_TOLD_WITH = {"calls": " (tries)"}  # of which there may be more than calls that were answered
_TOLD_AT = (0.5, 0.8)
_END = ("exhausted", "budget")
_TIME_MARGIN = 1.3  # of the time that is kept for the end
_FEWEST_LIVED = 2.0  # rollouts that tell how long one takes
_MOST_TIME = 0.5  # of the minutes that are kept for it


@dataclass(frozen=True, slots=True)
class Terms:
    """A budget as it was settled once for a run.

    Attributes:
        budget: By unit.
        rollouts: That it comes to.
        set_aside: Of these for the final scoring.
        kept: Calls, tokens and dollars for it.
    """

    budget: Amounts
    rollouts: int
    set_aside: float
    kept: Amounts


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
    """Watches over a run's budget in the units that it was given in.

    Minutes are those of this process: a run that is resumed has all of them anew.

    Args:
        terms: The budget.
        connection: Whose calls are limited; None if no model is real.
        folder: Where calls are counted, if the budget is in calls.
        say: Tells the watcher a line.
    """

    def __init__(
        self,
        terms: Terms,
        connection: Connection | None,
        folder: Path,
        say: Callable[[str], None],
    ) -> None:
        self._terms = terms
        self._connection = connection
        self._say = say
        self._began = time.monotonic()
        self._lived = 0.0  # rollouts
        self._lived_before: float | None = None  # of them, before this process
        self._ending = False
        if connection is not None:
            counted = folder / SENT_FILE if "calls" in terms.budget else None
            connection.limits.allowance = Allowance(sent=counted)
        self._limit()
        # What was told before a resume is not told again.
        self._told_at = tuple(share for share in _TOLD_AT if self._share()[0] < share)

    def close(self) -> None:
        """Close what counts calls; twice is fine."""
        if self._connection is not None:
            self._connection.limits.allowance.close()

    def open_kept(self) -> None:
        """Free what was kept, for the final scoring."""
        self._ending = True
        self._limit()

    def look(self, lived: float, *, replayed: bool) -> None:
        """Say once each that half and four fifths of a unit are spent; keep time for the end.

        Args:
            lived: Rollouts so far.
            replayed: Whether the last one was lived before this process.
        """
        self._lived = lived
        if self._lived_before is None or replayed:
            self._lived_before = lived if replayed else 0.0
        self._limit()
        while self._told_at:
            share, unit = self._share()
            if share < self._told_at[0]:
                return
            told, *later = self._told_at
            self._told_at = tuple(later)
            if not replayed:
                whole = shown(unit, self._terms.budget[unit])
                self._say(f"{told:.0%} of the budget of {whole} is spent")

    @property
    def spent(self) -> str:
        """How much of each unit of the budget but rollouts, in words; empty without any."""
        return ", ".join(
            f"{_plain(unit, self._spent(unit))} of {shown(unit, most)}{_TOLD_WITH.get(unit, '')}"
            for unit, most in self._terms.budget.items()
            if unit != "rollouts"
        )

    @property
    def late(self) -> str | None:
        """Why no more may be begun, if the time is over; what was kept of it is for the end."""
        if time.monotonic() < self._deadline:
            return None
        whole = f"time is up: {shown('minutes', self._terms.budget['minutes'])}"
        kept = 0.0 if self._ending else self._kept_seconds / 60
        return f"{whole}, {kept:.1f} of them kept for test users" if kept else whole

    def _share(self) -> tuple[float, str]:
        """The largest share of a unit that is spent, and that unit."""
        budget = self._terms.budget
        return max((self._spent(unit) / amount, unit) for unit, amount in budget.items())

    def _spent(self, unit: str) -> float:
        if unit == "rollouts":
            return self._lived
        if unit == "minutes":
            return (time.monotonic() - self._began) / 60
        if self._connection is None:
            return 0.0
        if unit == "calls":
            return self._connection.limits.allowance.sent
        cost = self._connection.log.cost()
        return cost.tokens if unit == "tokens" else cost.dollars or 0.0

    def _limit(self) -> None:
        """Set what calls may spend now."""
        if self._connection is None:
            return
        budget, kept = self._terms.budget, {} if self._ending else self._terms.kept
        caps = {
            unit: budget[unit] - kept.get(unit, 0.0)
            for unit in ("calls", "tokens", "dollars")
            if unit in budget
        }
        deadline = self._deadline if "minutes" in budget else None
        self._connection.limits.allowance.caps = Caps(**caps, deadline=deadline)

    @property
    def _deadline(self) -> float:
        """By the monotonic clock; infinite without a budget in minutes."""
        seconds = 60 * self._terms.budget.get("minutes", inf)
        return self._began + seconds - (0.0 if self._ending else self._kept_seconds)

    @property
    def _kept_seconds(self) -> float:
        """For the final scoring, at the speed of the rollouts of this process."""
        minutes = self._terms.budget.get("minutes")
        if minutes is None:
            return 0.0
        share = self._terms.set_aside / self._terms.rollouts
        needed = share * 60 * minutes
        lived = self._lived - (self._lived_before or 0.0)
        if lived >= _FEWEST_LIVED:
            spent = time.monotonic() - self._began
            needed = _TIME_MARGIN * self._terms.set_aside * spent / lived
        return min(needed, _MOST_TIME * 60 * minutes)


class Timed:
    """Workers that begin nothing once the time of a run is over.

    Args:
        workers: Run the tasks.
        purse: Knows the time.
    """

    def __init__(self, workers: Workers, purse: Purse) -> None:
        self._workers = workers
        self._purse = purse

    def run(self, tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        """Run tasks while there is time.

        Raises:
            BudgetExhaustedError: The time was over before the last of them began.
        """
        over: list[str] = []

        def in_time(_: object) -> bool:
            late = self._purse.late
            over.extend([late] if late else [])
            return late is None

        yield from self._workers.run(takewhile(in_time, tasks))
        if over:
            raise BudgetExhaustedError(over[0])


def paid(journal: Journal, results: Iterable[Result]) -> Iterator[Result]:
    """Results that are paid for, as they come: that the budget ended is an event, too.

    So a resumed run, which finds more replies in its log than it had, ends where it ended before.
    Nothing of this is looked at before the first result is asked for.

    Raises:
        BudgetExhaustedError: The budget ended, now or in the journal.
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


def _plain(unit: str, amount: float) -> str:
    """An amount beside another of its unit, which is named there."""
    if unit == "dollars":
        return money(amount)
    return f"{amount:.1f}" if unit == "minutes" else f"{amount:.0f}"


def money(dollars: float) -> str:
    """Dollars as people write them."""
    return shown("dollars", dollars)
