"""How a user's states begin and change: drawn by chance, made believable by the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from evolve.gym.generating.author import Author, Step
from evolve.gym.generating.persons import Person
from evolve.gym.generating.replies import as_object, as_text, numbered
from evolve.lm.json_text import FormatError

MOST_CHANGES = 3  # of one state
_LONGEST_EVENT = 400  # characters

_EVOLUTION = Step(
    "evolution",
    "Below are a person, the values that the person's states begin with, and the changes that "
    "follow, period by period; a period is three months. Values were drawn by chance, so that none "
    "can be guessed. Keep each one that can be true of this person together with the others; put "
    "another value of the same state in its place only where it cannot. A change must change the "
    "value. For each change write what happened that led to it, in one sentence.",
    '{"life": {"start": {"state": "value", …}, '
    '"changes": {"1": {"value": "…", "event": "what happened"}, …}}}',
    "life",
)


@dataclass(frozen=True, slots=True)
class Change:
    """A state takes another value at the start of a period, because of an event."""

    period: int
    state: str
    value: str
    event: str = ""


@dataclass(frozen=True, slots=True)
class Evolution:
    """The true values of a life.

    Attributes:
        start: State to its value in period 0.
        changes: In order of time, one of a state in a period at most.
    """

    start: Mapping[str, str]
    changes: tuple[Change, ...]

    def of(self, period: int) -> tuple[Change, ...]:
        """What changes in a period."""
        return tuple(change for change in self.changes if change.period == period)

    def state(self, period: int) -> dict[str, str]:
        """State to its value throughout a period."""
        later = {c.state: c.value for c in self.changes if c.period <= period}
        return {**self.start, **later}


def make_evolution(
    author: Author, person: Person, schema: Mapping[str, Sequence[str]], rng: Random
) -> Evolution:
    """Draw a life, and have it made believable.

    Raises:
        UnmendedError: It breaks a rule, however often it was mended.
    """
    drawn = draw_evolution(schema, author.brief.periods, rng)
    material = {
        "person": person.text,
        "states": {name: list(values) for name, values in schema.items()},
        "start": dict(drawn.start),
        "changes": {
            str(number): {"period": change.period, "state": change.state, "value": change.value}
            for number, change in enumerate(drawn.changes, 1)
        },
    }

    def faults(life: Evolution, tried: int) -> list[str]:
        wrong = _unchanged(life)
        return wrong or author.objections(_EVOLUTION, material, _written(life), tried)

    return author.write(
        _EVOLUTION, material, lambda value: _evolution(value, drawn, schema), faults
    )


def draw_evolution(schema: Mapping[str, Sequence[str]], periods: int, rng: Random) -> Evolution:
    """A life by chance: every value of a state as likely as any other.

    In each later period from one state to a third of them (but at least two) may change, while
    there are any left: a state changes ``MOST_CHANGES`` times at most, and not in two periods on
    end.
    """
    start = {name: rng.choice(list(values)) for name, values in schema.items()}
    life = Evolution(start, ())
    for period in range(1, periods):
        now, counts = life.state(period), Counter(change.state for change in life.changes)
        rested = {change.state for change in life.of(period - 1)}
        free = [name for name in schema if counts[name] < MOST_CHANGES and name not in rested]
        count = min(len(free), rng.randint(1, max(2, len(schema) // 3)))
        for name in rng.sample(free, count):
            value = rng.choice([value for value in schema[name] if value != now[name]])
            life = replace(life, changes=(*life.changes, Change(period, name, value)))
    return life


def _evolution(value: object, drawn: Evolution, schema: Mapping[str, Sequence[str]]) -> Evolution:
    """The life as the model gave it back."""
    found = as_object(value, "the life")
    start = as_object(found.get("start"), "the start")
    if set(start) != set(drawn.start):
        raise FormatError("the start must have a value for each state, and for no other")
    changes = numbered(found.get("changes"), "the changes", len(drawn.changes))
    return Evolution(
        {name: _value(name, start[name], schema) for name in drawn.start},
        tuple(
            _change(one, planned, schema)
            for one, planned in zip(changes, drawn.changes, strict=True)
        ),
    )


def _change(value: object, planned: Change, schema: Mapping[str, Sequence[str]]) -> Change:
    found = as_object(value, "each change")
    event = as_text(found.get("event"), "each event", _LONGEST_EVENT)
    return replace(planned, value=_value(planned.state, found.get("value"), schema), event=event)


def _value(name: str, value: object, schema: Mapping[str, Sequence[str]]) -> str:
    if value not in schema[name]:
        raise FormatError(f"{value!r} is no value of {name}; take one of {', '.join(schema[name])}")
    return str(value)


def _unchanged(life: Evolution) -> list[str]:
    """Changes that change nothing."""
    return [
        f"change {number} must change {change.state}, but it was {change.value!r} before"
        for number, change in enumerate(life.changes, 1)
        if life.state(change.period - 1)[change.state] == change.value
    ]


def _written(life: Evolution) -> dict[str, object]:
    """A life as it is shown to be checked."""
    changes = [
        {"period": c.period, "state": c.state, "value": c.value, "event": c.event}
        for c in life.changes
    ]
    return {"start": dict(life.start), "changes": changes}
