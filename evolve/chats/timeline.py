"""What is true of one user when: probes laid out over the periods that their days part."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from evolve.chats.records import Probe, Talk
from evolve.gym.checked import shown


@dataclass(frozen=True, slots=True)
class Timeline:
    """The periods of a user.

    Attributes:
        ends: Last day of each period, in order: the days of the probes, and that of the last talk
            if it is later.
        values: State to its value in each period; None before it is known.
    """

    ends: tuple[date, ...]
    values: Mapping[str, tuple[str | None, ...]]

    def period_of(self, talk: Talk) -> int:
        """The period that a conversation belongs to, by the day on which it began."""
        return bisect_left(self.ends, talk.time.date())

    def updated(self, period: int) -> frozenset[str]:
        """States whose value became known in a period, or changed; of the first one none."""
        if period == 0:
            return frozenset()
        return frozenset(
            state
            for state, values in self.values.items()
            if values[period] is not None and values[period] != values[period - 1]
        )

    def state(self, period: int) -> dict[str, str]:
        """State to value; one that is not yet known stands with its first value, unasked."""
        return {
            state: values[period] or next(value for value in values if value is not None)
            for state, values in self.values.items()
        }


def lay_out(probes: Sequence[Probe], talks: Sequence[Talk]) -> Timeline:
    """Lay out the probes of one user.

    Args:
        probes: At least one, all of one user.
        talks: The user's, at least one, in order of time.

    Raises:
        EnvironmentFileError: A probe is of a day before the first talk, or contradicts another.
    """
    days = sorted({probe.since for probe in probes})
    last = talks[-1].time.date()
    ends = (*days, last) if last > days[-1] else tuple(days)
    first = talks[0].time.date()
    changes: dict[str, dict[date, str]] = {}
    for probe in probes:
        if probe.since < first:
            raise probe.place.wrong(
                f"`date` must not be before the user's first conversation, on {first}, found "
                f"{probe.since}",
                "give the day on which the user said it",
            )
        before = changes.setdefault(probe.state, {}).setdefault(probe.since, probe.expected)
        if before != probe.expected:
            raise probe.place.wrong(
                f"on {probe.since} the state {shown(probe.state)} is {shown(probe.expected)}, but "
                f"an earlier probe says {shown(before)}",
                "correct one of them, or its date",
            )
    values = {
        state: tuple(_value_on(of_state, end) for end in ends)
        for state, of_state in changes.items()
    }
    return Timeline(ends, values)


def _value_on(changes: Mapping[date, str], day: date) -> str | None:
    """The value that the latest change up to a day gave."""
    past = [since for since in changes if since <= day]
    return changes[max(past)] if past else None
