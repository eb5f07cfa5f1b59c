"""What a user says when a session opens: it lets the planned states be known, and only those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from evolve.gym.generating.author import Author, Step
from evolve.gym.generating.evolution import Evolution
from evolve.gym.generating.kinds import Kinds
from evolve.gym.generating.persons import Person
from evolve.gym.generating.replies import as_text
from evolve.gym.generating.told import told
from evolve.gym.generating.wording import foreign
from evolve.gym.sample_calendar import draw_times, period_start

STATED = 0.25  # share of the values that are said plainly; the others are implied
FIRST_STATES = 3  # that a session of the first period lets known, at most
LATER_STATES = 2  # of later periods
FEWEST = 2  # sessions of a period
CHATTER = 0.3  # chance of one more session, with talk of other things
_LONGEST = 1500  # characters

_QUERY = Step(
    "sessions",
    "Write the first message of a chat of this person with the assistant: an everyday request, two "
    "to five sentences, as the person would write it. In passing the message must let the "
    "assistant know every state under `tell` with its present value: `imply` means by "
    "circumstances that leave no doubt about which of its values it is, without the value's own "
    "words; `state` means in plain words. If something happened, the message may come from that. "
    "It must say or suggest nothing about the states under `silent`. No name of a state may stand "
    "in it.",
    '{"query": "the message"}',
    "query",
)


@dataclass(frozen=True, slots=True)
class Planned:
    """A session without words.

    Attributes:
        time: ``"YYYY-MM-DD HH:MM:SS"``.
        reveals: State to whether it is said plainly; none for talk of other things.
    """

    time: str
    reveals: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Calendar:
    """A period: its first and last day, ``"YYYY-MM-DD"``, and its sessions in order."""

    start: str
    end: str
    sessions: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a session's words are written from.

    Attributes:
        person: Who speaks.
        kinds: Of the states that this person has.
        values: State to its value in this period.
        events: State to what happened that changed it in this period.
    """

    person: Person
    kinds: Kinds
    values: Mapping[str, str]
    events: Mapping[str, str]


def draw_calendar(life: Evolution, periods: int, rng: Random) -> tuple[Calendar, ...]:
    """When each value is told: in the period in which it takes effect, at a time of its own."""
    day = rng.randint(1, 28)
    drawn = []
    for period in range(periods):
        start, end = period_start(period, day), period_start(period + 1, day)
        changed = tuple(change.state for change in life.of(period))
        states = changed if period else tuple(life.start)
        groups = _grouped(states, LATER_STATES if period else FIRST_STATES, rng)
        if rng.random() < CHATTER:
            groups.append(())
        while len(groups) < FEWEST:
            groups.append(())
        rng.shuffle(groups)
        drawn.append(_calendar(start, end, groups, rng))
    return tuple(drawn)


def make_query(author: Author, scene: Scene, planned: Planned) -> str:
    """Have a session's first message written.

    Raises:
        UnmendedError: A reader does not find the planned states in it, or finds others, however
            often it was mended.
    """
    tell = {
        name: {"value": scene.values[name], "how": "state" if stated else "imply"}
        for name, stated in planned.reveals.items()
    }
    material = {
        "person": scene.person.text,
        "date": planned.time[:10],
        "tell": tell,
        "happened": [scene.events[name] for name in tell if name in scene.events],
        "silent": {k.name: k.meaning for k in scene.kinds if k.name not in tell},
        "values": {k.name: list(k.values) for k in scene.kinds if k.name in tell},
    }
    schema = {kind.name: kind.values for kind in scene.kinds}

    def faults(query: str, tried: int) -> list[str]:
        wrong = foreign("the message", query, author.brief.language)
        if wrong:
            return wrong
        expected = {name: scene.values[name] for name in planned.reveals}
        return _differences(expected, told(author, query, schema))

    return author.write(_QUERY, material, lambda v: as_text(v, "the message", _LONGEST), faults)


def _differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What a reader should know and does not, or knows and should not."""
    wrong = []
    for name, value in expected.items():
        if name not in found:
            wrong.append(f"a reader cannot tell from the message that {name} is {value!r}")
        elif found[name] != value:
            wrong.append(f"a reader takes {name} for {found[name]!r}, but it is {value!r}")
    extra = [name for name in found if name not in expected]
    return wrong + [f"the message lets {name} be known, which it must not" for name in extra]


def _grouped(states: Sequence[str], most: int, rng: Random) -> list[tuple[str, ...]]:
    """States in groups of one to ``most``, as even as can be."""
    mixed = rng.sample(list(states), len(states))
    count = -(-len(mixed) // most)
    return [tuple(mixed[place::count]) for place in range(count)]


def _calendar(start: date, end: date, groups: Sequence[tuple[str, ...]], rng: Random) -> Calendar:
    times = draw_times(start, end, len(groups), rng)
    sessions = tuple(
        Planned(time, {name: rng.random() < STATED for name in group})
        for time, group in zip(times, groups, strict=True)
    )
    return Calendar(start.isoformat(), (end - timedelta(days=1)).isoformat(), sessions)
