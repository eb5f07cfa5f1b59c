"""When a sample user writes, and which values each session reveals: no words yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from random import Random

from evolve.gym.sample_lives import PERIODS, Life

MENTION_AGAIN = 0.3  # chance that a later session with room for it repeats a value that still holds
FIRST_SESSIONS = 4
LATER_SESSIONS = (2, 4)
FACTS_PER_SESSION = 2  # at most, after period 0
FIRST_YEAR = 2024
MONTHS_PER_PERIOD = 3


@dataclass(frozen=True, slots=True)
class PlannedSession:
    """One session, without words.

    Attributes:
        time: ``"YYYY-MM-DD HH:MM:SS"``.
        reveals: States whose current value the opening query reveals, maybe none.
        domain: Domain of the request that closes the query.
    """

    time: str
    reveals: tuple[str, ...]
    domain: str


@dataclass(frozen=True, slots=True)
class PlannedPeriod:
    """One period: its first and last day, ``"YYYY-MM-DD"``, and its sessions in order."""

    start: str
    end: str
    sessions: tuple[PlannedSession, ...]


def draw_calendar(life: Life, rng: Random) -> tuple[PlannedPeriod, ...]:
    """The periods of a life; every value is revealed in the period in which it takes effect."""
    day = rng.randint(1, 28)
    periods = []
    for period in range(PERIODS):
        start, end = period_start(period, day), period_start(period + 1, day)
        told = _first_sessions(life, rng) if period == 0 else _later_sessions(life, period, rng)
        sessions = []
        for when, reveals in zip(draw_times(start, end, len(told), rng), told, strict=True):
            domain = life.domains[rng.choice(reveals or tuple(life.values))]
            sessions.append(PlannedSession(when, reveals, domain))
        last_day = end - timedelta(days=1)
        periods.append(PlannedPeriod(start.isoformat(), last_day.isoformat(), tuple(sessions)))
    return tuple(periods)


def _first_sessions(life: Life, rng: Random) -> tuple[tuple[str, ...], ...]:
    """All states over the sessions of period 0, three or so a session, a domain together."""
    domains = rng.sample(sorted(set(life.domains.values())), len(set(life.domains.values())))
    states = rng.sample(list(life.values), len(life.values))
    states.sort(key=lambda state: domains.index(life.domains[state]))
    cuts = [len(states) * at // FIRST_SESSIONS for at in range(FIRST_SESSIONS + 1)]
    return tuple(tuple(states[start:end]) for start, end in pairwise(cuts))


def _later_sessions(life: Life, period: int, rng: Random) -> tuple[tuple[str, ...], ...]:
    """The period's updates over its sessions, one or two a session, and some repetition."""
    updated = life.updated(period)
    fewest, most = LATER_SESSIONS
    enough = max(fewest, -(-len(updated) // FACTS_PER_SESSION))
    count = min(most, enough + rng.randint(0, 1))
    places = rng.sample(range(count * FACTS_PER_SESSION), len(updated))
    sessions: list[list[str]] = [[] for _ in range(count)]
    for state, place in zip(updated, places, strict=True):
        sessions[place % count].append(state)
    unchanged = [state for state in life.values if state not in updated]
    rng.shuffle(unchanged)
    for session in sessions:
        if len(session) < FACTS_PER_SESSION and rng.random() < MENTION_AGAIN:
            session.append(unchanged.pop())
    return tuple(tuple(session) for session in sessions)


def period_start(period: int, day: int) -> date:
    """First day of a period, of users whose periods begin on that day of the month, 1 to 28."""
    years, months = divmod(period * MONTHS_PER_PERIOD, 12)
    return date(FIRST_YEAR + years, 1 + months, day)


def draw_times(start: date, end: date, count: int, rng: Random) -> list[str]:
    """Times of sessions in order, each on a day of its own before ``end``, from 7 to 22 o'clock."""
    times = []
    for day in sorted(rng.sample(range((end - start).days), count)):
        clock = time(rng.randint(7, 21), rng.randint(0, 59), rng.randint(0, 59))
        times.append(datetime.combine(start + timedelta(days=day), clock).isoformat(sep=" "))
    return times
