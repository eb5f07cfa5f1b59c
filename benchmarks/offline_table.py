"""Holds the offline model against the published table, and the sample to what it guarantees.

``python -m benchmarks.offline_table`` lets many users of both variants live through every
architecture and setting of the published table and through lists of remembered types, and prints
memory scores with intervals over users, what the model understands of what users say, and how it
reads the published users. It exits with 1 if a claim fails.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.comprehension import comprehension, published_reading
from benchmarks.memory import Floats, Ground, ground_of
from benchmarks.published import FIGURES, SIGNS, absent, find_data
from benchmarks.report import Claim, Report, above_zero, close, parser, shown
from benchmarks.rollouts import Lived, bound_all, live_all, pooled, workers
from evolve.gym.sample import make_users
from evolve.gym.sample_bank import VARIANTS, read_bank
from evolve.gym.users import users_of
from evolve.lm.models import ModelSpec
from evolve.lm.offline import Capacity
from evolve.seeding import derive
from evolve.stats import Interval
from evolve.tables import Table, number
from evolve.workers import Workers, WorldSpec
from feedback.scores import score
from policies.policy import Policy, make_policy, seed_policy

FULL_USERS, QUICK_USERS = 200, 16
NEAR_ZERO = 0.03  # how far from zero the memory score of ``none`` may lie
NO_BETTER = 0.01  # what random types may gain and still count as no better

BASE = "awe"
TABLE: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "none": ("none", {}),
    "native": ("native", {}),
    "rag": ("rag", {}),
    "awi": ("awi", {}),
    BASE: ("awe", {}),
    "awe, write_every 4": ("awe", {"write_every": 4}),
    "awe, write_every 8": ("awe", {"write_every": 8}),
    "awe, local_window 0": ("awe", {"local_window": 0}),
    "awe, local_window 8": ("awe", {"local_window": 8}),
    "awe, top_k 10": ("awe", {"top_k": 10}),
    "awe, top_k 50": ("awe", {"top_k": 50}),
}
"""Row to architecture and the settings that differ from the defaults of the design's table."""

_SYLLABLES = ("ba", "ko", "ri", "tu", "mel", "son", "dra", "pli", "vek", "om", "zi", "nar")
LISTS = ("seed", "half of the types", "all types", "seed + random words", "all + random words")


@dataclass(frozen=True, slots=True)
class Crowd:
    """The users of one variant, and how far claims on them must hold.

    Attributes:
        variant: Bank of phrases.
        ground: What all policies share.
        bounds: Upper bounds.
        strict: Whether an interval must exclude the contrary, as on many users.
    """

    variant: str
    ground: Ground
    bounds: Mapping[tuple[str, int, int], float]
    strict: bool

    def right(self, lived: Mapping[str, Sequence[Lived]]) -> dict[str, Floats]:
        """Name to right answers."""
        return {name: self.ground.right(pooled(one)) for name, one in lived.items()}

    def claim(self, text: str, interval: Interval) -> Claim:
        """That a quantity is above zero."""
        return above_zero(f"variant {self.variant}: {text}", interval, self.strict)

    def claim_within(self, text: str, interval: Interval, low: float, high: float) -> Claim:
        """That a quantity lies in a range; on few users, that its interval does not exclude it."""
        near = (
            interval
            if not self.strict
            else Interval(interval.mean, interval.mean, interval.mean, interval.n)
        )
        holds = near.low <= high and near.high >= low
        return Claim(f"variant {self.variant}: {text}: {shown(interval, '+.3f')}", holds)


def table_policies() -> dict[str, Policy]:
    """The rows of the published table: the seeds' texts with the design's default settings."""
    return {
        name: make_policy(architecture, seed_policy(architecture).texts, settings, name)
        for name, (architecture, settings) in TABLE.items()
    }


def list_policies(architecture: str, seed: int) -> dict[str, Policy]:
    """The seed policy, and with other lists of remembered types."""
    parent = seed_policy(architecture)
    draw = Random(derive("benchmarks", "types", seed))
    specific = sorted(s.replace("_", " ") for d in read_bank("a").schema.values() for s in d)
    draw.shuffle(specific)
    seeds = parent.texts["memory_types"].strip().split("\n")
    surplus = max(len(specific), 2 * Capacity().held_types - len(specific))
    lists = (
        seeds,
        _bullets(specific[: len(specific) // 2]),
        _bullets(specific),
        [*seeds, *_bullets(_random_words(draw, len(specific) - len(seeds)))],
        [*_bullets(specific), *_bullets(_random_words(draw, surplus))],
    )
    return {
        name: parent.derive({"memory_types": "\n".join(lines) + "\n"}, name=name)
        for name, lines in zip(LISTS, lists, strict=True)
    }


def _bullets(names: Sequence[str]) -> list[str]:
    return [f"- {name}" for name in names]


def _random_words(draw: Random, count: int) -> list[str]:
    """Pairs of words that mean nothing."""

    def word() -> str:
        return "".join(draw.choice(_SYLLABLES) for _ in range(3))

    return [f"{word()} {word()}" for _ in range(count)]


def published_table(crowd: Crowd, lived: Mapping[str, Sequence[Lived]]) -> list[Table]:
    """Memory score and stages of every row, beside what was published; then by period."""
    right = crowd.right(lived)
    rows, periods = [], []
    for name, one in lived.items():
        found = score(pooled(one), crowd.bounds)
        level = crowd.ground.memory(right[name])
        figure = FIGURES.get("awe, top_k 30" if name == BASE else name, "")
        stages = (found.accuracy, found.write, found.read, found.utilization)
        tokens = sum(rollout.tokens for rollout in one) / len(one)
        rows.append(
            (
                *(name, figure, shown(level), *(number(stage, 3) for stage in stages)),
                number(tokens or None, 0),
            )
        )
        periods.append((name, *(f"{value:.2f}" for value in crowd.ground.by_period(right[name]))))
    users = f"variant {crowd.variant}, {len(crowd.ground.users)} users"
    columns = ("policy", "published", "memory score [95 %]", "accuracy", "write", "read")
    title = f"The offline model and the published table ({users})"
    numbers = tuple(str(period) for period in range(len(periods[0]) - 1))
    return [
        Table(title, (*columns, "utilization", "tokens/answer"), tuple(rows)),
        Table(f"Memory score by period ({users})", ("policy", *numbers), tuple(periods)),
    ]


def table_claims(crowd: Crowd, lived: Mapping[str, Sequence[Lived]]) -> list[Claim]:
    """What must hold of the published table."""
    right, ground = crowd.right(lived), crowd.ground
    pairs = (
        ("write_every 2 above 4", BASE, "awe, write_every 4"),
        ("write_every 4 above 8", "awe, write_every 4", "awe, write_every 8"),
        ("local_window 4 above 0", BASE, "awe, local_window 0"),
        ("awe above awi", BASE, "awi"),
    )
    claims = [
        crowd.claim(text, ground.difference(right[better], right[worse]))
        for text, better, worse in pairs
    ]
    fading = ground.kept(right[BASE], right["native"])
    text = "native fades faster: awe keeps more of its first period's memory score in later ones"
    return [
        *claims,
        crowd.claim(text, fading),
        crowd.claim_within(
            f"none within {NEAR_ZERO} of zero", ground.memory(right["none"]), -NEAR_ZERO, NEAR_ZERO
        ),
    ]


def list_table(
    crowd: Crowd, architecture: str, lived: Mapping[str, Sequence[Lived]]
) -> tuple[Table, list[Claim]]:
    """Lists of remembered types; what the sample guarantees is claimed for awe."""
    right, ground = crowd.right(lived), crowd.ground
    gains = {name: ground.difference(right[name], right["seed"]) for name in LISTS}
    rows = tuple(
        (
            *(name, shown(ground.memory(right[name])), shown(gains[name], "+.3f")),
            number(score(pooled(lived[name])).write, 3),
        )
        for name in LISTS
    )
    users = f"variant {crowd.variant}, {len(ground.users)} users"
    title = f"Lists of remembered types, {architecture} seed ({users})"
    table = Table(title, ("list", "memory score [95 %]", "less the seed's", "write"), rows)
    if architecture != "awe":
        return table, []
    half, everything, placebo, longer = LISTS[1:]
    told = ground.difference(ground.upper, right[everything])
    return table, [
        crowd.claim("half of the specific types above the seed", gains[half]),
        crowd.claim("all above half", ground.difference(right[everything], right[half])),
        crowd.claim("the upper bound above all", told),
        crowd.claim_within(
            "random-word types no better than the seed", gains[placebo], -1, NO_BETTER
        ),
        crowd.claim(
            "a list longer than it can hold costs something",
            ground.difference(right[everything], right[longer]),
        ),
    ]


def of_variant(
    variant: str, size: tuple[int, int], strict: bool, pool: Workers
) -> tuple[list[Table], list[Claim]]:
    """Tables and claims of one variant; ``size`` is (seed, number of users)."""
    seed, count = size
    spec = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), seed, 1, 2)
    users = users_of(make_users(seed, count, variant), f"variant {variant}")
    bounds = bound_all(users, spec, pool)
    crowd = Crowd(variant, ground_of(users, bounds, seed), bounds, strict)
    groups = {
        "table": table_policies(),
        **{name: list_policies(name, seed) for name in ("awe", "awi")},
    }
    flat = {f"{group}: {n}": p for group, rows in groups.items() for n, p in rows.items()}
    known = live_all(flat, users, spec, pool)
    lived = {group: {n: known[f"{group}: {n}"] for n in rows} for group, rows in groups.items()}
    tables = published_table(crowd, lived["table"])
    # What was published is claimed of the packaged bank; variant b is there to compare with.
    claims = table_claims(crowd, lived["table"]) if variant == "a" else []
    for architecture in ("awe", "awi"):
        table, found = list_table(crowd, architecture, lived[architecture])
        tables.append(table)
        claims += found
    tables.append(comprehension(users, variant))
    return tables, claims


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Hold the offline model against the published table.")
    options_of.add_argument("--users", type=int, metavar="N", help="users of each variant (200)")
    options_of.add_argument("--seed", type=int, default=101, help="of users and world (101)")
    options_of.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    options_of.add_argument("--data", type=Path, metavar="DIR", help="folder of published data")
    options = options_of.parse_args(arguments)
    count = options.users or (QUICK_USERS if options.quick else FULL_USERS)
    tables: list[Table] = []
    claims: list[Claim] = []
    notes = [f"Published signs: {'; '.join(SIGNS)}."]
    with workers(options.jobs) as pool:
        for variant in VARIANTS:
            found, judged = of_variant(
                variant, (options.seed, count), count >= FULL_USERS // 2, pool
            )
            tables += found
            claims += judged
        data = find_data(options.data)
        if data is None:
            notes.append(absent(options.data))
        else:
            tables.append(published_reading(data, options.seed, pool))
    return close(Report(tuple(tables), tuple(claims), tuple(notes)), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
