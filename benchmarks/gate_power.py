"""Measures the gate: power, users per decision, runs of null candidates, the selection effect.

``python -m benchmarks.gate_power`` draws per-user differences between candidate and parent, rounds
them to 1/64 as real ones are, and passes them through the gate itself. It prints tables and the
claims that they support, and exits with 1 if a claim fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Claim, Report, close, parser, shown
from evolve.optimize.archive import shrinkage
from evolve.optimize.gate import RUN_LEVEL, Gate, candidate_level, minibatch_passes
from evolve.seeding import derive
from evolve.stats import Interval, mean_interval, paired_t, share_interval
from evolve.tables import Table

Floats = NDArray[np.float64]

ANSWERS = 64  # 8 questions in 8 periods
MINIBATCH = 6
USERS = (24, 12, 6)
DEVIATIONS = (0.05, 0.10)
GAINS = (0.0, 0.02, 0.05, 0.10)
LEVEL = 0.025  # of one candidate out of four, where the claims on power are made

NOISE: Mapping[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "heavy tails (t, 3 df)": lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3),
    "skewness -1": lambda rng, shape: 2 - rng.gamma(4, 0.5, shape),
    "skewness -2": lambda rng, shape: 1 - rng.exponential(1, shape),
}
"""Noise of mean 0 and standard deviation 1 by name; the skewed ones hide a few large losses."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated: decisions per cell, runs per row, climbs per rule."""

    decisions: int
    runs: int
    climbs: int


FULL = Size(decisions=2000, runs=1500, climbs=150)
QUICK = Size(decisions=120, runs=60, climbs=8)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule made of many candidates: which were accepted, and on how many users."""

    accepted: NDArray[np.bool_]
    users: Floats

    @property
    def share(self) -> Interval:
        """Share accepted, with its interval."""
        return share_interval(int(self.accepted.sum()), len(self.accepted))

    def __str__(self) -> str:
        return f"{self.accepted.mean():.3f} ({self.users.mean():.1f})"


def rounded(differences: Floats) -> Floats:
    """Differences as accuracies over ``ANSWERS`` answers give them."""
    return np.clip(np.round(differences * ANSWERS) / ANSWERS, -1, 1)


def gated(gate: Gate, differences: Floats) -> Outcome:
    """Pass each row of differences, one per gate user, through the gate."""
    decisions = [gate.decide(row) for row in differences.tolist()]
    return Outcome(
        np.array([d.state == "accept" for d in decisions]),
        np.array([d.n for d in decisions], dtype=np.float64),
    )


def drawn(seed: int, users: int, deviation: float | None, gain: float, count: int) -> Floats:
    """``count`` rows of normal differences; None draws each row's deviation from 0.03 to 0.09.

    The same place draws the same numbers, so rules are compared on the same candidates.
    """
    rng = np.random.default_rng(derive("gate-power", seed, users, str(deviation), str(gain)))
    sd = deviation if deviation is not None else rng.uniform(0.03, 0.09, (count, 1))
    return rounded(gain + sd * rng.standard_normal((count, users)))


def power(seed: int, size: Size, level: float) -> tuple[Table, list[Claim]]:
    """Acceptance and users per decision, by gate users, deviation and true gain."""
    cells = [(users, sd) for users in USERS for sd in DEVIATIONS]
    outcomes = {
        (users, sd, gain): gated(
            Gate(level, users, ANSWERS), drawn(seed, users, sd, gain, size.decisions)
        )
        for users, sd in [*cells, (24, None)]
        for gain in GAINS
    }
    rows = [
        (
            *(str(users), "0.03-0.09" if sd is None else f"{sd:.2f}"),
            *(str(outcomes[users, sd, gain]) for gain in GAINS),
        )
        for users, sd in [(24, None), *cells]
    ]
    columns = ("gate users", "sd per user", *(f"gain {gain:.2f}" for gain in GAINS))
    title = f"Share accepted (users per decision), level {level:g} a candidate"
    claims = [
        Claim(
            f"level {level:g}: a null candidate is accepted in at most that share of cases"
            " (24, 12 and 6 users)",
            all(outcomes[users, sd, 0.0].share.low <= level for users, sd in cells),
        ),
        Claim(
            f"level {level:g}: a null candidate uses at most half of 24 users",
            all(outcomes[24, sd, 0.0].users.mean() <= 12 for sd in DEVIATIONS),
        ),
    ]
    if level == LEVEL:
        text = f"level {level:g}: a gain of 0.05 (sd 0.05, 24 users) is accepted in at least 0.9"
        claims.append(Claim(text, outcomes[24, 0.05, 0.05].share.high >= 0.9))
    return Table(title, columns, tuple(rows)), claims


def baselines(seed: int, size: Size) -> tuple[Table, list[Claim]]:
    """The gate against a test of all 24 users at once and a fixed slice of 6 without a test."""
    rows = []
    claims = []
    for sd in DEVIATIONS:
        draws = [drawn(seed, 24, sd, gain, size.decisions) for gain in GAINS]
        gate = [gated(Gate(LEVEL, 24, ANSWERS), d) for d in draws]
        fixed = [
            Outcome(
                np.array([paired_t(row, ANSWERS) <= LEVEL for row in d.tolist()]),
                np.full(len(d), 24.0),
            )
            for d in draws
        ]
        untested = [
            Outcome(
                np.array([minibatch_passes(row) for row in d[:, :6].tolist()]), np.full(len(d), 6.0)
            )
            for d in draws
        ]
        ratios = [f"{g.users.mean() / 24:.2f}" for g in gate]
        for name, outcomes in (("gate", gate), ("t test of 24", fixed), ("6, no test", untested)):
            rows.append((name, f"{sd:.2f}", *map(str, outcomes)))
        rows.append(("users: gate / t test", f"{sd:.2f}", *ratios))
        claims.append(
            Claim(
                f"sd {sd:.2f}: the gate needs fewer users than a t test of all 24 at every gain,"
                " and accepts a gain of 0.10 at most 0.05 less often",
                all(g.users.mean() < 24 for g in gate)
                and gate[-1].accepted.mean() >= fixed[-1].accepted.mean() - 0.05,
            )
        )
    columns = ("rule", "sd per user", *(f"gain {gain:.2f}" for gain in GAINS))
    title = f"Share accepted (users per decision) by rule, level {LEVEL:g}"
    return Table(title, columns, tuple(rows)), claims


def null_runs(seed: int, size: Size) -> tuple[Table, list[Claim]]:
    """Share of runs of null candidates alone that accept any of them."""
    kinds = [("normal", sd, users) for users in USERS for sd in DEVIATIONS]
    kinds += [(noise, 0.05, 24) for noise in NOISE if noise != "normal"]
    rows = []
    claims = []
    for noise, sd, users in kinds:
        for candidates in (8, 20):
            gate, run, untested = _null_run((noise, sd, users), candidates, size.runs, seed)
            rows.append(
                (
                    *(noise, f"{sd:.2f}", str(users), str(candidates)),
                    *(shown(share) for share in (gate, run, untested)),
                )
            )
            name = f"{candidates} null candidates, {noise}, sd {sd:.2f}, {users} gate users"
            if not noise.startswith("skewness"):
                text = f"{name}: the gate alone accepts any in at most 1 run of 10"
                claims.append(Claim(text, gate.low <= RUN_LEVEL))
            elif noise == "skewness -1":
                text = f"{name}: minibatch and gate accept any in at most 1 run of 10"
                claims.append(Claim(text, run.low <= RUN_LEVEL))
    columns = (
        *("differences", "sd", "gate users", "candidates"),
        *("gate alone", "minibatch and gate", "6 users, no test"),
    )
    title = "Share of runs of null candidates that accept any [95 % interval]"
    return Table(title, columns, tuple(rows)), claims


def _null_run(
    kind: tuple[str, float, int], candidates: int, runs: int, seed: int
) -> tuple[Interval, Interval, Interval]:
    """Shares of runs that accept any: gate alone, minibatch and gate, six users without a test."""
    noise, sd, users = kind
    rng = np.random.default_rng(derive("null-runs", seed, noise, str(sd), users, candidates))
    count = runs * candidates
    train = rounded(sd * NOISE[noise](rng, (count, MINIBATCH)))
    passed = np.array([minibatch_passes(row) for row in train.tolist()])
    gate = Gate(candidate_level(candidates), users, ANSWERS)
    accepted = gated(gate, rounded(sd * NOISE[noise](rng, (count, users)))).accepted

    def any_share(hits: NDArray[np.bool_]) -> Interval:
        return share_interval(int(hits.reshape(runs, candidates).any(axis=1).sum()), runs)

    return any_share(accepted), any_share(accepted & passed), any_share(passed)


def selection(seed: int, size: Size) -> tuple[Table, list[Claim]]:
    """Sixty candidates, each a change to the best so far: what is gained there and on fresh users.

    A candidate's true gain is normal with the mean and deviation of the row, its differences per
    user with 0.05 around it; accuracy starts at 0.4 and stays within 0..1.
    """
    rows = []
    gains = {}
    for mean, sd in ((-0.01, 0.02), (0.0, 0.0)):
        for name in ("6 users, no test", "gate of 24 users"):
            climbs = [_climb(name, (mean, sd), derive(seed, n)) for n in range(size.climbs)]
            there, fresh, accepted, users = np.mean(climbs, axis=0).tolist()
            gains[sd, name] = there, fresh
            lost = shrinkage(there, fresh) if there > 0.005 else None
            rows.append(
                (
                    *(name, f"{mean:+.2f} ± {sd:.2f}", f"{accepted:.1f}", f"{users:.0f}"),
                    shown(mean_interval([climb[0] for climb in climbs]), "+.3f"),
                    shown(mean_interval([climb[1] for climb in climbs]), "+.3f"),
                    "-" if lost is None else f"{lost:.2f}",
                )
            )
    columns = ("rule", "true gains", "accepted", "users", "gain there", "fresh users", "shrinkage")
    title = "Selection: sixty candidates, each a change to the best so far"
    slice_null, gate_null = gains[0.0, "6 users, no test"], gains[0.0, "gate of 24 users"]
    mixed = gains[0.02, "6 users, no test"]
    claims = [
        Claim(
            "selection on 6 users without a test gains 0.2 there from null candidates, and nothing"
            " (within 0.02) on fresh users",
            slice_null[0] >= 0.2 and abs(slice_null[1]) <= 0.02,
        ),
        Claim(
            "with a few better candidates it gains at least twice as much there as on fresh users",
            mixed[0] >= 2 * mixed[1],
        ),
        Claim("the gate gains at most 0.01 from null candidates", gate_null[0] <= 0.01),
    ]
    return Table(title, columns, tuple(rows)), claims


def _climb(rule: str, gains: tuple[float, float], seed: int) -> tuple[float, float, int, float]:
    """One climb of sixty steps: gain there, gain on fresh users, versions accepted, users used."""
    rng = np.random.default_rng(seed)
    untested = rule == "6 users, no test"
    judges = 6 if untested else 24
    gate = Gate(candidate_level(60), 24, ANSWERS)
    accuracy = np.full(judges + 200, 0.4)
    accepted, users = 0, 0.0
    for _ in range(60):
        change = rng.normal(*gains) + 0.05 * rng.standard_normal(len(accuracy))
        candidate = np.clip(rounded(accuracy + change), 0, 1)
        there = (candidate - accuracy)[:judges].tolist()
        decision = None if untested else gate.decide(there)
        users += judges if decision is None else decision.n
        if minibatch_passes(there) if decision is None else decision.state == "accept":
            accuracy = candidate
            accepted += 1
    return accuracy[:judges].mean() - 0.4, accuracy[judges:].mean() - 0.4, accepted, users


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Measure the gate that decides on candidates.")
    options_of.add_argument("--seed", type=int, default=0, help="seed of all draws")
    options = options_of.parse_args(arguments)
    size = QUICK if options.quick else FULL
    parts = [
        power(options.seed, size, LEVEL),
        power(options.seed, size, candidate_level(8)),
        baselines(options.seed, size),
        null_runs(options.seed, size),
        selection(options.seed, size),
    ]
    tables = tuple(table for table, _ in parts)
    claims = tuple(claim for _, found in parts for claim in found)
    note = "A claim fails when the 95 % interval of what was drawn excludes it."
    return close(Report(tables, claims, (note,)), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
