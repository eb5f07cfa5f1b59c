"""Compares strategies at the same budget, on the same users, and judges joint against them.

``python -m benchmarks.compare --draws 30`` is a trial: it draws users that methods may be chosen on
and claims nothing. ``--judging N`` judges: on draws that were settled beforehand and are used for
nothing else, with its number and outcome logged in ``benchmarks/comparison.md``. Every finished run
is kept in ``.benchmarks/`` under a digest of the sources, so that an interrupted comparison goes on
where it stopped; change the sources, and all is run again. A comparison whose end is clear is
ended early, in either direction, by the rule of ``evolve.families``. Strategies that the registry
does not have are left out. It exits with 1 if a claim fails.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from benchmarks.compare_page import (
    PAGE,
    Judging,
    JudgingError,
    curves_csv,
    read_log,
    runs_csv,
    with_judging,
    with_outcome,
    write_page,
)
from benchmarks.compare_pool import Pool
from benchmarks.compare_report import Plan, report
from benchmarks.compare_run import Ran, execute
from benchmarks.compare_verdict import (
    NEAR,
    OURS,
    RIVALS,
    SEED,
    Compared,
    compared,
    going_on,
    looks_of,
)
from benchmarks.compare_worlds import (
    BUDGET,
    JUDGING_SEEDS,
    TRIAL_SEED,
    USERS,
    WORLDS,
    CompareSpec,
    Draws,
    worlds_here,
)
from benchmarks.kept import add_cache_options
from benchmarks.published import find_data
from benchmarks.report import Report, close
from evolve.optimize.strategy import STRATEGIES
from policies.files import write_whole

HERE = Path(__file__).parent
DRAWS = 30
FEWEST_JUDGING = 6
QUICK_USERS, QUICK_BUDGET = 18, 42  # the smallest that such users allow
ORDER = (OURS, NEAR, *(name for name in RIVALS if name != SEED))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison in the making.

    Attributes:
        plan: What is compared.
        draws: Users and seeds.
        pool: Runs what is not known.
    """

    plan: Plan
    draws: Draws
    pool: Pool

    @property
    def runs(self) -> list[tuple[CompareSpec, Ran]]:
        """What is known of these draws."""
        specs = self._specs(dict.fromkeys(self.plan.worlds, self.plan.strategies))
        return [(spec, self.pool.kept[spec]) for spec in specs if spec in self.pool.kept]

    @property
    def found(self) -> Compared:
        """The same, by world, strategy and draw."""
        return compared(dict(self.runs), self.draws.first_seed, looks_of(self.plan.draws))

    def gather(self) -> None:
        """Run what is needed, look by look; comparisons that have ended get no more draws."""
        looks = looks_of(self.plan.draws)
        for most in looks.draws:
            wanted = going_on(self.found, self.plan.worlds, self.plan.strategies)
            specs = self._specs(wanted, most)
            tasks = {spec: partial(execute, spec, self.draws.data) for spec in specs}
            self.pool.run(tasks, self._specs(wanted))

    def _specs(
        self, wanted: Mapping[str, Sequence[str]], most: int | None = None
    ) -> list[CompareSpec]:
        """Runs of strategies by world, draw by draw."""
        draws = min(self.plan.draws, most or self.plan.draws)
        return [
            self.draws.spec(world, strategy, draw)
            for draw in range(draws)
            for world, names in wanted.items()
            if draw < (WORLDS[world].most_draws or draws)
            for strategy in names
        ]


def make_parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description="Compare strategies at the same budget.")
    made.add_argument("--draws", type=int, default=DRAWS, metavar="N", help=f"a world ({DRAWS})")
    made.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS), metavar="NAME")
    made.add_argument("--strategies", nargs="+", choices=STRATEGIES, metavar="NAME", help="(all)")
    made.add_argument("--budget", type=int, default=BUDGET, help=f"of each run ({BUDGET})")
    made.add_argument("--quick", action="store_true", help="one draw of few users, a tiny budget")
    made.add_argument("--data", type=Path, metavar="DIR", help="folder of published data")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    made.add_argument("--markdown", type=Path, metavar="FILE", help="also write the report there")
    made.add_argument("--judging", type=int, metavar="N", help="its number; none for a trial")
    made.add_argument("--out", type=Path, metavar="DIR", help="of page, CSV and plots (benchmarks)")
    add_cache_options(made)
    return made


def make_plan(options: argparse.Namespace) -> Plan:
    """What the options ask for, as far as it is there."""
    worlds, notes = worlds_here(options.worlds, options.data)
    asked = options.strategies or ORDER
    missing = [name for name in ORDER if name not in STRATEGIES]
    if missing and not options.strategies:
        notes.append(f"Left out, as the registry does not have them: {', '.join(missing)}.")
    strategies = [name for name in ORDER if name in STRATEGIES and name in asked]
    if OURS not in strategies:
        strategies.insert(0, OURS)
    return Plan(
        tuple(world.name for world in worlds),
        tuple(strategies),
        QUICK_BUDGET if options.quick else options.budget,
        1 if options.quick else options.draws,
        options.judging,
        tuple(notes),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is not known and report; 1 if a claim fails, 2 if a judging may not begin."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    plan = make_plan(options)
    pool = Pool.of("compare", options.cache, options.jobs, fresh=options.fresh)
    out: Path | None = options.out
    first = TRIAL_SEED
    if plan.judging is not None:
        out = out or HERE
        try:
            begin_judging(plan, pool.digest, out / PAGE)
        except JudgingError as error:
            parser.error(str(error))
        first = JUDGING_SEEDS[plan.judging - 1]
    users = QUICK_USERS if options.quick else USERS
    draws = Draws(first, plan.budget, users, find_data(options.data))
    comparison = Comparison(plan, draws, pool)
    comparison.gather()
    found = report(comparison.found, plan)
    if out is not None:
        write_files(comparison, found, out)
    return close(found, options.markdown)


def begin_judging(plan: Plan, digest: str, page: Path) -> None:
    """Log a judging before its first run.

    Args:
        plan: What is compared.
        digest: Of the sources.
        page: Holds the log.

    Raises:
        JudgingError: It is none, or may not begin.
    """
    judged = {name for name, world in WORLDS.items() if world.judged}
    number = plan.judging or 0
    whole = plan.budget == BUDGET and plan.draws >= FEWEST_JUDGING and plan.strategies == ORDER
    if not (whole and judged <= set(plan.worlds)):
        raise JudgingError(
            f"A judging compares {', '.join(ORDER)} at budget {BUDGET} on {FEWEST_JUDGING} draws or"
            f" more of the worlds {' and '.join(sorted(judged))}, but less was asked for; leave out"
            " what makes it smaller, or --judging."
        )
    log = with_judging(
        read_log(page), Judging(number, date.today().isoformat(), digest, plan.draws)
    )
    write_page(page, Report(notes=(f"Judging {number} is running.",)), log)


def write_files(comparison: Comparison, found: Report, out: Path) -> None:
    """Write page, tables of runs and plots into a folder."""
    from benchmarks.compare_plots import curves, tokens

    plan, runs = comparison.plan, comparison.runs
    out.mkdir(parents=True, exist_ok=True)
    log = read_log(out / PAGE)
    if plan.judging is not None:
        failed = [claim.text for claim in found.claims if claim.holds is False]
        outcome = f"{len(failed)} of {len(found.claims)} claims fail" if failed else "holds"
        log = with_outcome(log, plan.judging, outcome)
    write_page(out / PAGE, found, log)
    write_whole(out / "comparison-runs.csv", runs_csv(runs))
    write_whole(out / "comparison-curves.csv", curves_csv(runs))
    for world in plan.worlds:
        write_whole(out / f"comparison-{world}.svg", curves(comparison.found, plan, world))
        write_whole(out / f"comparison-{world}-tokens.svg", tokens(comparison.found, plan, world))


if __name__ == "__main__":
    raise SystemExit(main())
