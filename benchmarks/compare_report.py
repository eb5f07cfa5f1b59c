"""The tables and claims of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from benchmarks.compare_run import Ran
from benchmarks.compare_verdict import (
    MARGIN,
    MOST_SHRINKAGE,
    NEAR,
    OURS,
    RIVALS,
    SEED,
    SHARE,
    Compared,
    shrinkage_of,
)
from benchmarks.compare_worlds import MOST_TOKENS, WORLDS
from benchmarks.report import Claim, Report, shown
from evolve.anytime import anytime_area, value_at
from evolve.families import Judged
from evolve.stats import Interval, mean_interval
from evolve.tables import Table, number
from feedback.records import TraceStage

_QUARTERS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared.

    Attributes:
        worlds: Names, in order.
        strategies: Names, ours first.
        budget: Rollouts of a run.
        draws: At most, a world.
        judging: Number of the judging; None for a trial, which claims nothing.
        notes: On what is left out, and why.
    """

    worlds: tuple[str, ...]
    strategies: tuple[str, ...]
    budget: int
    draws: int
    judging: int | None
    notes: tuple[str, ...] = ()

    @property
    def rivals(self) -> list[str]:
        """Those of the family that are there."""
        return [name for name in RIVALS if name == SEED or name in self.strategies]


def report(found: Compared, plan: Plan) -> Report:
    """Tables of every world, and what they come to."""
    family = found.family(plan.worlds, plan.rivals)
    tables: list[Table] = []
    for world in plan.worlds:
        if not found.of(world, OURS):
            continue
        tables += [
            scores_table(found, plan, world),
            pairs_table(found, plan, world, family),
            curve_table(found, plan, world),
            *trace_table(found, plan, world),
        ]
    return Report(tuple(tables), tuple(claims_of(found, plan, family)), (*_NOTES, *plan.notes))


_NOTES = (
    "Brackets hold 95 % intervals, Student's t over draws. Every strategy has the same users, the"
    " same split and the same seed in a draw, and the same ledger. Versions are scored on test"
    " users outside of it, and no strategy sees these scores.",
    f"In all worlds but amemgym at most {MOST_TOKENS} tokens per answer are allowed.",
    "The area is the mean score of the best version so far from the first rollout to the last of"
    " the budget, by rollouts charged when it was found. Shrinkage is (gain at the gate - gain on"
    " test users) / gain at the gate, in accuracy, gains of all draws together.",
    "The comparisons of worlds a and b are one family, one-sided at 0.025, by Holm's correction."
    " It is judged after a third, two thirds and all of the draws; of the level, what is spent by"
    " then is the share of the draws to the fourth. A comparison ends when joint is above by that"
    " test, or when it is below zero by a test at the whole level; the rival then has fewer draws.",
)


def scores_table(found: Compared, plan: Plan, world: str) -> Table:
    """How each strategy ends."""
    columns = (
        *("strategy", "draws", "final memory score", "gain over seed", "area", "accuracy"),
        *("write", "read", "utilization", "tokens/answer", "over the limit"),
        *("accepted", "candidates", "shrinkage", "seconds"),
    )
    rows = [_seed_row(found.of(world, OURS))]
    for name in plan.strategies:
        if runs := found.of(world, name):
            rows.append(_row(name, runs, plan, WORLDS[world].most_tokens))
    title = f"{world}: {WORLDS[world].meaning}; budget {plan.budget}"
    return Table(title, columns, tuple(rows))


def _seed_row(runs: Sequence[Ran]) -> tuple[str, ...]:
    return (
        *(SEED, str(len(runs)), _mean(runs, lambda r: r.seed.memory), "-"),
        *(_mean(runs, lambda r: r.seed.memory), _plain(runs, lambda r: r.seed.accuracy)),
        *(_plain(runs, lambda r: r.seed.write), _plain(runs, lambda r: r.seed.read)),
        *(_plain(runs, lambda r: r.seed.utilization), _plain(runs, lambda r: r.seed.tokens, 0)),
        *("-", "-", "-", "-", "-"),
    )


def _row(name: str, runs: Sequence[Ran], plan: Plan, limit: int | None) -> tuple[str, ...]:
    over = "-"
    if limit is not None:
        over = f"{sum(run.best.tokens > limit for run in runs)} of {len(runs)}"
    return (
        *(name, str(len(runs)), _mean(runs, lambda r: r.best.memory)),
        _mean(runs, lambda r: _less(r.best.memory, r.seed.memory), "+.3f"),
        _mean(runs, lambda r: _area(r, plan.budget)),
        *(_plain(runs, lambda r: r.best.accuracy), _plain(runs, lambda r: r.best.write)),
        *(_plain(runs, lambda r: r.best.read), _plain(runs, lambda r: r.best.utilization)),
        *(_plain(runs, lambda r: r.best.tokens, 0), over),
        *(_plain(runs, lambda r: r.accepted, 1), _plain(runs, lambda r: r.candidates, 1)),
        *(number(shrinkage_of(runs), 2), _plain(runs, lambda r: r.seconds, 0)),
    )


def pairs_table(
    found: Compared, plan: Plan, world: str, family: dict[tuple[str, str], Judged]
) -> Table:
    """Joint less every other, paired by draw."""
    rows = []
    for name in (SEED, *plan.strategies):
        values = found.differences(world, name)
        if name == OURS or not values:
            continue
        judged = family.get((world, name))
        if judged is None or judged.mean is None:
            rows.append(
                (name, str(len(values)), _interval(mean_interval(values), "+.3f"), "-", "-")
            )
            continue
        # Of the draws of the look that judged it, even if joint and the seed have more by now.
        p = "-" if judged.p is None else f"{judged.p:.2g}"
        rows.append((name, str(judged.draws), _interval(judged.mean, "+.3f"), p, judged.state))
    columns = ("joint less", "draws", "difference", "p by Holm", "verdict")
    return Table(f"{world}: joint less others, final memory score", columns, tuple(rows))


def curve_table(found: Compared, plan: Plan, world: str) -> Table:
    """Best so far at quarters of the budget, mean over draws."""
    spent = [round(plan.budget * quarter) for quarter in _QUARTERS]
    rows = []
    for name in plan.strategies:
        curves = [steps for run in found.of(world, name) if (steps := run.steps) is not None]
        if curves:
            means = [sum(value_at(c, at) for c in curves) / len(curves) for at in spent]
            rows.append((name, *(f"{mean:.3f}" for mean in means)))
    title = f"{world}: mean memory score of the best version so far, by rollouts spent"
    return Table(title, ("strategy", *map(str, spent)), tuple(rows))


def trace_table(found: Compared, plan: Plan, world: str) -> list[Table]:
    """Where the final versions lose what they were told, shares of answers.

    None where no answer is traced: published users do not say which session revealed what.
    """
    stages = [stage.value for stage in TraceStage]
    kinds = {SEED: [run.seed for run in found.of(world, OURS)]}
    kinds |= {name: [run.best for run in found.of(world, name)] for name in plan.strategies}
    shares = {
        name: [sum(one.trace[stage] for one in ends) / len(ends) for stage in stages]
        for name, ends in kinds.items()
        if ends
    }
    if not any(map(any, shares.values())):
        return []
    rows = tuple((name, *(f"{share:.3f}" for share in row)) for name, row in shares.items())
    return [Table(f"{world}: earliest lost step, shares of answers", ("strategy", *stages), rows)]


def claims_of(found: Compared, plan: Plan, family: dict[tuple[str, str], Judged]) -> list[Claim]:
    """What must hold in the judged worlds; of a trial nothing is judged but the budget."""
    claims = [_above(pair, one) for pair, one in family.items()]
    whole = all(
        len(found.differences(w, NEAR)) >= plan.draws for w in plan.worlds if WORLDS[w].judged
    )
    for world in plan.worlds:
        if WORLDS[world].judged:
            claims += _near_claims(found, world, whole=whole)
            claims.append(_shrinkage_claim(shrinkage_of(found.of(world, OURS)), world, whole=whole))
    if plan.judging is None:
        claims = [Claim(claim.text, None) for claim in claims]
    runs = [run for pair in found.runs for run in found.of(*pair)]
    most = max((run.spent for run in runs), default=0.0)
    text = f"no run spends more than its budget of {plan.budget}: at most {most:.1f}"
    return [*claims, Claim(text, most <= plan.budget)]


def _above(pair: tuple[str, str], one: Judged) -> Claim:
    world, rival = pair
    holds = None if one.state == "open" else one.state == "above"
    difference = "no draws" if one.mean is None else _interval(one.mean, "+.3f")
    p = "" if one.p is None else f", p {one.p:.2g} by Holm"
    text = f"{world}: joint above {rival}: {difference}{p}, {one.state} after {one.draws} draws"
    return Claim(text, holds)


def _near_claims(found: Compared, world: str, *, whole: bool) -> list[Claim]:
    near, reached = found.near(world), found.catches_up(world)
    if near is None or reached is None:
        return [Claim(f"{world}: joint against {NEAR}: not compared", None)]
    spent, evolving, target = reached
    text = f"{world}: joint not below {NEAR} by more than {MARGIN}: {_interval(near, '+.3f')}"
    when = "never" if spent is None else f"after {spent:.0f} rollouts"
    soon = spent is not None and spent <= SHARE * evolving
    return [
        Claim(text, near.mean >= -MARGIN if whole else None),
        Claim(
            f"{world}: joint reaches what {NEAR} ends with, {target:.3f}, within {SHARE} of the"
            f" {evolving:.0f} rollouts that it could evolve by: {when}",
            soon if whole else None,
        ),
    ]


def _shrinkage_claim(shrinkage: float | None, world: str, *, whole: bool) -> Claim:
    text = f"{world}: shrinkage from gate to test at most a third: {number(shrinkage, 2)}"
    holds = shrinkage is not None and shrinkage <= MOST_SHRINKAGE
    return Claim(text, holds if whole else None)


def _area(run: Ran, budget: float) -> float | None:
    return None if run.steps is None else anytime_area(run.steps, budget)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _mean(runs: Sequence[Ran], of: Callable[[Ran], float | None], form: str = ".3f") -> str:
    values = [value for run in runs if (value := of(run)) is not None]
    return _interval(mean_interval(values), form) if values else "undefined"


def _plain(runs: Sequence[Ran], of: Callable[[Ran], float | None], places: int = 3) -> str:
    values = [value for run in runs if (value := of(run)) is not None]
    return number(sum(values) / len(values), places) if values else "-"


def _interval(found: Interval, form: str) -> str:
    return shown(found, form) if isfinite(found.high) else f"{found.mean:{form}} (one draw)"
