"""Runs the loop on the three published users with a split by time and prints what came of it.

``python -m benchmarks.amemgym_periods`` runs budget 60 from the awi and the rag seed with five run
seeds each (and the placebo from awi). It claims nothing of the gain: three users whose text lies
outside the offline model's lexicon cannot show one. Without the data it says so and ends with 0.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.gains import Series, summary_table
from benchmarks.kept import add_cache_options
from benchmarks.published import absent, find_data
from benchmarks.report import Claim, Report, close, parser
from benchmarks.runs import RunSpec, known_results, run_all, run_table
from evolve.gym.users import file_digest
from evolve.inputs import OUTSIDE_LEXICON
from evolve.policy_run import LITTLE_POWER

BUDGET, SEEDS = 60, 5
STRATEGIES = {"awi": ("joint", "placebo"), "rag": ("joint",)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Run the loop on published users with a split by time.")
    options_of.add_argument("--data", type=Path, metavar="DIR", help="folder of published data")
    options_of.add_argument("--seeds", type=int, metavar="N", help=f"run seeds ({SEEDS})")
    options_of.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    add_cache_options(options_of)
    options = options_of.parse_args(arguments)
    data = find_data(options.data)
    if data is None:
        return close(Report(notes=(absent(options.data),)), options.markdown)
    env = data / "amemgym-v1" / "data.json"
    environment = f"amemgym-v1-{file_digest(env)}"
    seeds = options.seeds or (1 if options.quick else SEEDS)
    runs = {
        (policy, strategy): [
            RunSpec(environment, policy, strategy, seed, BUDGET, "periods") for seed in range(seeds)
        ]
        for policy, strategies in STRATEGIES.items()
        for strategy in strategies
    }
    todo = [spec for group in runs.values() for spec in group]
    results = known_results(options.cache, fresh=options.fresh)
    run_all(todo, lambda _: env, options.jobs, results)
    series = [
        Series(
            policy,
            tuple(results[spec] for spec in runs[policy, "joint"]),
            tuple(results[spec] for spec in runs.get((policy, "placebo"), ())),
        )
        for policy in STRATEGIES
    ]
    rows = {f"{s.policy} {s.strategy}, seed {s.seed}": results[s] for s in todo}
    tables = (
        summary_table(f"Gain on three published users by time, budget {BUDGET}", series),
        run_table("Runs: memory score on the last periods", rows),
    )
    most = max(results[spec].spent for spec in todo)
    claims = (Claim(f"no run spends more than {BUDGET} rollouts: {most:.1f}", most <= BUDGET),)
    notes = (
        f"Power: {LITTLE_POWER}; {OUTSIDE_LEXICON}. The draws are run seeds on the same users, so"
        " the interval over them says nothing of other users.",
    )
    return close(Report(tables, claims, notes), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
