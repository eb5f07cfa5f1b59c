"""Measures what the loop gains on fresh sample users, and whether a placebo gains as much.

``python -m benchmarks.sample_gain`` runs the loop with budget 300 on ten draws of 72 users of the
sample's generator, from the awe and the awi seed, with the strategies joint and placebo, and on
five draws of variant b. What the loop gains is shown over the seed policy as it is and over the
seed with all settings at their defaults, on the same users. Every finished run is kept in
``.benchmarks/`` under a digest of the sources, so that an interrupted benchmark goes on where it
stopped; ``--fresh`` begins anew. It prints a table per seed and variant and a summary over the
draws, and exits with 1 if a claim fails.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.gains import Series, claims_of, summary_table
from benchmarks.kept import Kept, add_cache_options
from benchmarks.report import Claim, Report, close, parser
from benchmarks.runs import RunResult, RunSpec, known_results, peak_memory, run_all, run_table
from evolve.gym.sample import make_users, write_users
from evolve.tables import Table

USERS, BUDGET = 72, 300
FIRST_SEED = 1000  # of draw 0
SERIES = (("a", "awe", 10), ("a", "awi", 10), ("b", "awe", 5))
QUICK = (("a", "awe", 2),)
STRATEGIES = ("joint", "placebo")


def specs_of(variant: str, policy: str, draws: int, budget: int) -> list[list[RunSpec]]:
    """Per strategy, its runs; draws are the same users and the same split for all."""
    return [
        [
            RunSpec(
                f"sample-{variant}-{FIRST_SEED + draw}-{USERS}",
                policy,
                strategy,
                draw,
                budget,
                "users",
            )
            for draw in range(draws)
        ]
        for strategy in STRATEGIES
    ]


def env_file(spec: RunSpec, folder: Path) -> Path:
    """The draw's environment file, made where it is not there yet."""
    path = folder / f"{spec.environment}.json"
    if not path.exists():
        _, variant, seed, users = spec.environment.split("-")
        write_users(make_users(int(seed), int(users), variant), path)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Measure what the loop gains on fresh sample users.")
    options_of.add_argument("--draws", type=int, metavar="N", help="at most so many draws a series")
    options_of.add_argument("--budget", type=int, default=BUDGET, help=f"of each run ({BUDGET})")
    options_of.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    add_cache_options(options_of)
    options = options_of.parse_args(arguments)
    chosen = QUICK if options.quick else SERIES
    planned = {
        f"variant {variant}, {policy}": (
            variant,
            specs_of(variant, policy, min(draws, options.draws or draws), options.budget),
        )
        for variant, policy, draws in chosen
    }
    results = known_results(options.cache, fresh=options.fresh)
    with TemporaryDirectory() as name:
        todo = [spec for _, runs in planned.values() for group in runs for spec in group]
        run_all(todo, lambda spec: env_file(spec, Path(name)), options.jobs, results)
    series, tables, claims = [], [], list[Claim]()
    for title, (variant, runs) in planned.items():
        joint, placebo = (tuple(results[spec] for spec in group) for group in runs)
        one = Series(title, joint, placebo)
        series.append(one)
        tables.append(_table(title, options.budget, runs, results))
        strict = options.budget == BUDGET and not options.quick and options.draws is None
        claims += claims_of(one, strict=strict, sharp=variant == "a")
    claims.append(_within_budget(todo, results))
    summary = f"Gain in memory score over draws of {USERS} fresh users, budget {options.budget}"
    notes = (
        "Intervals over draws are Student's t; those of a run are over its test users. Gains are of"
        " the best version less the seed on test users; unwritten is the change in the share of"
        " answers whose fact no memory entry took up.",
        "Over default settings is the best version less the seed policy with every setting at its"
        " default, lived through by the same test users: what is left of the gain when putting the"
        " settings back to the defaults counts as nothing. It is not measured of placebo runs.",
        f"Each run had one core; no process, many runs long, was larger than {peak_memory():.0f} MB"
        " (run_sample measures a run by itself).",
    )
    return close(
        Report((summary_table(summary, series), *tables), tuple(claims), notes), options.markdown
    )


def _table(
    title: str, budget: int, runs: Sequence[Sequence[RunSpec]], results: Kept[RunSpec, RunResult]
) -> Table:
    rows = {f"{spec.strategy}, draw {spec.seed}": results[spec] for group in runs for spec in group}
    return run_table(f"Runs of {title}, budget {budget}: memory score on test users", rows)


def _within_budget(specs: Sequence[RunSpec], results: Kept[RunSpec, RunResult]) -> Claim:
    most = max(results[spec].spent / spec.budget for spec in specs)
    return Claim(f"no run spends more than its budget: at most {most:.3f} of it", most <= 1)


if __name__ == "__main__":
    raise SystemExit(main())
