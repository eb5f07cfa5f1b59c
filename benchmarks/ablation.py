"""Measures what each part of joint is worth: the strategy without it, on the same draws.

``python -m benchmarks.ablation --markdown benchmarks/ablation.md`` runs joint and joint without one
part after the other on twelve draws of users that nothing else is measured on. A part is left out
by a keyword of the class that has it, or by what stands in its place; none of that can be reached
from the command line of a run. Finished runs are kept as those of ``benchmarks.compare``. It exits
with 1 if a run spends more than its budget.
"""

from __future__ import annotations

import argparse
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field as field_of
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.compare_pool import Pool
from benchmarks.compare_run import Ran, execute
from benchmarks.compare_verdict import OURS, shrinkage_of
from benchmarks.compare_worlds import ABLATION_SEED, BUDGET, USERS, CompareSpec, Draws
from benchmarks.kept import add_cache_options
from benchmarks.report import Claim, Report, close, shown
from evolve.anytime import anytime_area
from evolve.evaluate import Evaluator
from evolve.field import Field
from evolve.minibatch import Minibatch
from evolve.optimize.constraints import Constraints
from evolve.optimize.gate import RUN_LEVEL
from evolve.screening import Screen
from evolve.stats import mean_interval
from evolve.tables import Table, number

DRAWS = 12
QUICK_USERS, QUICK_BUDGET = 18, 42


@dataclass(frozen=True, slots=True)
class Ablation:
    """One part that is left out.

    Attributes:
        part: Its name.
        instead: What happens then.
        module: Where the loop looks up what has the part.
        name: Of that.
        keywords: That leave it out; empty where ``stand_in`` does.
        stand_in: Takes its place.
    """

    part: str
    instead: str
    module: str
    name: str
    keywords: Mapping[str, Any] = field_of(default_factory=dict)
    stand_in: Callable[..., Any] | None = None

    @property
    def is_there(self) -> bool:
        """Whether the part can be left out of these sources."""
        original = getattr(import_module(self.module), self.name, None)
        if original is None:
            return False
        return self.keywords.keys() <= inspect.signature(original).parameters.keys()

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Leave it out as long as this lasts."""
        module = import_module(self.module)
        original = getattr(module, self.name)
        setattr(module, self.name, self.stand_in or partial(original, **self.keywords))
        try:
            yield
        finally:
            setattr(module, self.name, original)


def whole_level(left: float, expected: float) -> float:
    """The level of the run for every candidate, however many there are."""
    return RUN_LEVEL


def unscreened(evaluator: Evaluator, field: Field, limits: Constraints, *, used: bool) -> Screen:
    """A screen that is not used."""
    return Screen(evaluator, field, limits, used=False)


def unraced(evaluator: Evaluator, field: Field, *, racing: bool) -> Minibatch:
    """A minibatch without a race."""
    return Minibatch(evaluator, field, racing=False)


_JOINT = "evolve.optimize.joint", "JointProposer"
_ALL = (
    Ablation("routing", "which part changes is drawn by fixed shares", *_JOINT, {"routed": False}),
    Ablation("changes of both", "texts and settings change apart", *_JOINT, {"both": False}),
    Ablation(
        "level correction",
        "each candidate at the gate has the level of the whole run",
        "evolve.trial",
        "next_level",
        stand_in=whole_level,
    ),
    Ablation(
        "screening",
        "nothing is heard off-policy before it is lived",
        "evolve.evolution",
        "Screen",
        stand_in=unscreened,
    ),
    Ablation(
        "racing",
        "the whole minibatch is always scored",
        "evolve.evolution",
        "Minibatch",
        stand_in=unraced,
    ),
    Ablation(
        "drafts",
        "proposals are made from accepted versions alone",
        "evolve.evolution",
        "Drafts",
        {"used": False},
    ),
)
ABLATIONS = {ablation.part: ablation for ablation in _ALL}


def run_without(spec: CompareSpec) -> Ran:
    """One run without the part that its spec names."""
    ablation = ABLATIONS[spec.without].left_out() if spec.without else None
    return execute(spec, None, ablation)


def ablation_table(runs: Mapping[str, Sequence[Ran]], budget: int) -> Table:
    """A row for the whole strategy, named by an empty part, and one for each part left out.

    Args:
        runs: Part to the runs without it, by draw.
        budget: Of each run.
    """
    whole = runs[""]
    rows = []
    for part, without in runs.items():
        pairs = list(zip(whole, without, strict=True))
        scores = [run.best.memory for run in without if run.best.memory is not None]
        costs = [cost for pair in pairs if (cost := _cost(*pair)) is not None]
        areas = [cost for pair in pairs if (cost := _area_cost(*pair, budget)) is not None]
        rows.append(
            (
                *(f"without {part}" if part else OURS, str(len(without)), _shown(scores, ".3f")),
                *(_shown(costs if part else [], "+.3f"), _shown(areas if part else [], "+.3f")),
                _mean([run.accepted for run in without], 1),
                _mean([run.candidates for run in without], 1),
                number(shrinkage_of(without), 2),
                _mean([run.best.tokens for run in without], 0),
                _mean([run.spent for run in without], 0),
                _mean([run.seconds for run in without], 0),
            )
        )
    columns = (
        *("strategy", "draws", "final memory score", "cost in score", "cost in area"),
        *("accepted", "candidates", "shrinkage", "tokens/answer", "spent", "seconds"),
    )
    return Table(f"Joint without one part, budget {budget}, world a", columns, tuple(rows))


def _cost(whole: Ran, without: Ran) -> float | None:
    if whole.best.memory is None or without.best.memory is None:
        return None
    return whole.best.memory - without.best.memory


def _area_cost(whole: Ran, without: Ran, budget: int) -> float | None:
    if whole.steps is None or without.steps is None:
        return None
    return anytime_area(whole.steps, budget) - anytime_area(without.steps, budget)


def _shown(values: Sequence[float], form: str) -> str:
    if not values:
        return "-"
    found = mean_interval(values)
    return shown(found, form) if len(values) > 1 else f"{found.mean:{form}} (one draw)"


def _mean(values: Sequence[float], places: int) -> str:
    return number(sum(values) / len(values), places)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is not known and report; 1 if a run spends more than its budget."""
    made = argparse.ArgumentParser(description="Measure what each part of joint is worth.")
    made.add_argument("--draws", type=int, default=DRAWS, metavar="N", help=f"({DRAWS})")
    made.add_argument("--budget", type=int, default=BUDGET, help=f"of each run ({BUDGET})")
    made.add_argument("--quick", action="store_true", help="one draw of few users, a tiny budget")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    made.add_argument("--markdown", type=Path, metavar="FILE", help="also write the report there")
    add_cache_options(made)
    options = made.parse_args(arguments)
    budget, users, count = options.budget, USERS, options.draws
    if options.quick:
        budget, users, count = QUICK_BUDGET, QUICK_USERS, 1
    draws = Draws(ABLATION_SEED, budget, users)
    parts = ["", *(part for part, one in ABLATIONS.items() if one.is_there)]
    specs = [draws.spec("a", OURS, draw, part) for draw in range(count) for part in parts]
    pool = Pool.of("ablation", options.cache, options.jobs, fresh=options.fresh)
    pool.run({spec: partial(run_without, spec) for spec in specs}, specs)
    runs = {part: [pool.kept[s] for s in specs if s.without == part] for part in parts}
    most = max(pool.kept[spec].spent for spec in specs)
    claim = Claim(f"no run spends more than its budget of {budget}: {most:.1f}", most <= budget)
    notes = ["A cost is the whole strategy less the one without the part, paired by draw."]
    notes += [f"Without {part}: {ABLATIONS[part].instead}." for part in parts if part]
    missing = [part for part in ABLATIONS if part not in parts]
    if missing:
        notes.append(f"Left out, as these sources do not have them: {', '.join(missing)}.")
    return close(Report((ablation_table(runs, budget),), (claim,), tuple(notes)), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
