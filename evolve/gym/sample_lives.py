"""What is true of a sample user over time, and which questions are asked: no words yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations, product
from random import Random

from evolve.seeding import derive

PERIODS = 8
QUESTIONS_PER_GROUP = (3, 3, 2)
GROUPS = 3  # of states that stand in questions together, each of one domain
STATES_PER_GROUP = 4
MAX_CHANGES = 3
CHANGE_WEIGHTS = (1, 3, 3, 3)  # of 0, 1, 2 and 3 changes, before lives that fit no question go
MAX_VALUES_LIVED = 3  # two states with more have no set of six choices that is fair
MAX_UPDATES = 6  # in one period, so that its sessions can tell them one or two at a time

Cell = tuple[int, int]
Schema = Mapping[str, Mapping[str, tuple[str, ...]]]  # domain, state type, its values
_Group = tuple[str, tuple[str, ...]]  # a domain and states of it
Combination = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, without words.

    Attributes:
        required: The two states that decide it, both of one domain.
        choices: 4 or 6 combinations of their values, in the order in which the file gives them.
    """

    required: tuple[str, str]
    choices: tuple[Combination, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """What is true of one user.

    Attributes:
        domains: State held to its domain.
        values: State held to its value in each of the ``PERIODS`` periods.
        asked: The questions.
    """

    domains: Mapping[str, str]
    values: Mapping[str, tuple[str, ...]]
    asked: tuple[Asked, ...]

    def state(self, period: int) -> dict[str, str]:
        """Every state's value in a period."""
        return {state: lived[period] for state, lived in self.values.items()}

    def updated(self, period: int) -> tuple[str, ...]:
        """States whose value took effect in a period; all of them in period 0."""
        return tuple(
            state
            for state, lived in self.values.items()
            if period == 0 or lived[period] != lived[period - 1]
        )


def draw_life(seed: int, index: int, schema: Schema) -> Life:
    """The life of user ``index`` of a seed, whatever the number of users and the words.

    Args:
        seed: Seed of the environment.
        index: Number of the user, from 0.
        schema: One to three domains, to state type to possible values. With fewer than three, a
            user holds more of a domain's states, so that every life is as full.
    """
    rng = Random(derive(seed, "sample", "life", index))
    held = _held(seed, index, schema, rng)
    questions = rng.sample(QUESTIONS_PER_GROUP, len(held))
    while True:
        values: dict[str, tuple[str, ...]] = {}
        asked: list[Asked] = []
        for (domain, states), count in zip(held, questions, strict=True):
            lived, pairs = _draw_group(schema[domain], states, count, rng)
            values |= lived
            asked += pairs
        rng.shuffle(asked)
        domains = {state: domain for domain, states in held for state in states}
        life = Life(domains, values, tuple(asked))
        if all(1 <= len(life.updated(period)) <= MAX_UPDATES for period in range(1, PERIODS)):
            return life


def _held(seed: int, index: int, schema: Schema, rng: Random) -> list[_Group]:
    """The states that the user holds: 10 to 12 in all, in groups of 3 or 4 of a domain.

    Three domains have a group each; of fewer, users take turns in which domain has more. Where each
    user has a group of each, neighbours share out a domain's state types, so that each type is held
    by nearly the same number of users, and still no user's states depend on that number.
    """
    domains = list(schema)
    turn = [domains[(index + at) % len(domains)] for at in range(GROUPS)]
    groups = sorted(turn, key=domains.index)
    shorter = set(rng.sample(sorted(range(GROUPS), key=groups.__getitem__), rng.randint(0, 2)))
    held: list[_Group] = []
    for at, domain in enumerate(groups):
        block, share = _share(index, groups, at, len(schema[domain]) // STATES_PER_GROUP)
        order = list(schema[domain])
        Random(derive(seed, "sample", "types", domain, block)).shuffle(order)
        own = order[share * STATES_PER_GROUP : (share + 1) * STATES_PER_GROUP]
        held.append((domain, tuple(own[: STATES_PER_GROUP - (at in shorter)])))
    return held


def _share(index: int, groups: Sequence[str], at: int, shares: int) -> tuple[int, int]:
    """Number of the order of a domain's types that a group takes from, and its share of it."""
    if len(set(groups)) == GROUPS:
        return divmod(index, shares)
    return index, groups[:at].count(groups[at])


def _draw_group(
    types: Mapping[str, tuple[str, ...]], states: Sequence[str], questions: int, rng: Random
) -> tuple[dict[str, tuple[str, ...]], list[Asked]]:
    """Values over time of a group's states, and questions whose choices cover them."""
    while True:
        lived = {state: _draw_values(types[state], rng) for state in states}
        asked = []
        for first, second in _pairs(rng.sample(list(states), len(states)), questions):
            choices = _draw_choices(
                (types[first], types[second]), (lived[first], lived[second]), rng
            )
            if choices is not None:
                asked.append(Asked((first, second), choices))
        if len(asked) == questions:
            return lived, asked


def _draw_values(values: Sequence[str], rng: Random) -> tuple[str, ...]:
    """A value per period, with up to ``MAX_CHANGES`` changes; a value may come back."""
    changes = rng.choices(range(MAX_CHANGES + 1), CHANGE_WEIGHTS)[0]
    when = set(rng.sample(range(1, PERIODS), changes))
    lived = [rng.choice(values)]
    for period in range(1, PERIODS):
        seen = sorted(set(lived))
        open_values = seen if len(seen) == MAX_VALUES_LIVED else values
        others = [value for value in open_values if value != lived[-1]]
        lived.append(rng.choice(others) if period in when else lived[-1])
    return tuple(lived)


def _pairs(states: Sequence[str], questions: int) -> list[tuple[str, str]]:
    """Pairs of three or four states in which each state stands once or twice."""
    if questions * 2 == len(states):
        return [(states[at], states[at + 1]) for at in range(0, len(states), 2)]
    return [(states[at], states[(at + 1) % len(states)]) for at in range(questions)]


def _draw_choices(
    values: tuple[Sequence[str], Sequence[str]],
    lived: tuple[Sequence[str], Sequence[str]],
    rng: Random,
) -> tuple[Combination, ...] | None:
    """Choices that hold every combination lived, or None where no fair set of them does.

    They are 4 where 4 can hold them, else 6. The right choice stands out in no way: every choice
    shares its first value with as many others, and its second value too. So there are never 5,
    and one known value never decides.
    """
    places = [{value: at for at, value in enumerate(own)} for own in values]
    current = {(places[0][a], places[1][b]) for a, b in zip(*lived, strict=True)}
    if len(current) < 2:
        return None  # a question whose answer never changes tests no memory of change
    fitting = [shape for shape in _shapes(len(values[0]), len(values[1])) if current <= shape]
    if not fitting:
        return None
    size = min(len(shape) for shape in fitting)
    cells = sorted(rng.choice([shape for shape in fitting if len(shape) == size]))
    rng.shuffle(cells)
    return tuple((values[0][a], values[1][b]) for a, b in cells)


@lru_cache(maxsize=16)
def _shapes(rows: int, columns: int) -> tuple[frozenset[Cell], ...]:
    """Sets of 4 or 6 cells of a table in which each row and each column used is used alike.

    They are the full tables of 2 by 2, 2 by 3 and 3 by 2, and those of 3 by 3 without a diagonal.
    """
    shapes = []
    for height, width in ((2, 2), (2, 3), (3, 2), (3, 3)):
        for own_rows in combinations(range(rows), height):
            for own_columns in combinations(range(columns), width):
                cells = frozenset(product(own_rows, own_columns))
                if (height, width) != (3, 3):
                    shapes.append(cells)
                    continue
                shapes += [
                    cells - set(zip(own_rows, diagonal, strict=True))
                    for diagonal in permutations(own_columns)
                ]
    return tuple(shapes)
