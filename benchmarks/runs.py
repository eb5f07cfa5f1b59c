"""Whole runs of the loop for benchmarks, and what each found on its test users."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from benchmarks.defaults import over_defaults
from benchmarks.kept import Kept, side_by_side, sources_digest
from evolve.config import Options
from evolve.display import Standing
from evolve.finish import Outcome
from evolve.means import Means
from evolve.policy_run import Watch, policy_run
from evolve.tables import Table, number
from feedback.records import TraceStage
from policies.policy import read_policy

_SCORED = (
    "failed",
    "minibatch",
    "level",
    "gate",
)  # stages of candidates that rollouts were spent on


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run.

    Attributes:
        environment: Names the users; a digest or a seed is part of it.
        policy: Name of the seed policy.
        strategy: As in ``Options``.
        seed: Of the run.
        budget: Rollouts.
        holdout: As in ``Options``.
    """

    environment: str
    policy: str
    strategy: str
    seed: int
    budget: int
    holdout: Literal["users", "periods"]

    @property
    def name(self) -> str:
        """For progress lines."""
        return f"{self.environment} {self.policy} {self.strategy} seed {self.seed}"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run found on its test users; None is undefined.

    Attributes:
        seed_memory: Memory score of the seed.
        best_memory: Of the best version.
        gain: Best less seed; 0.0 where best is the seed.
        low: Lower end of its interval; None where best is the seed.
        high: Upper end.
        default_memory: Memory score of the seed with all settings at their defaults; None where it
            has them already, or where it was not asked for.
        over_default: Best less that.
        accepted: Versions accepted.
        candidates: Candidates that rollouts were spent on.
        seed_unwritten: Share of answers whose earliest lost step is ``unwritten``, by the seed.
        best_unwritten: The same by the best version.
        gate_gain: Best less seed in accuracy on gate users.
        test_gain: The same on test users.
        shrinkage: (gate gain - test gain) / gate gain.
        seed_tokens: Tokens per answer of the seed.
        best_tokens: Of the best version.
        spent: Rollouts charged.
        seconds: Wall time on one core, when it was run.
    """

    seed_memory: float | None
    best_memory: float | None
    gain: float | None
    low: float | None
    high: float | None
    default_memory: float | None
    over_default: float | None
    accepted: int
    candidates: int
    seed_unwritten: float | None
    best_unwritten: float | None
    gate_gain: float | None
    test_gain: float
    shrinkage: float | None
    seed_tokens: float | None
    best_tokens: float | None
    spent: float
    seconds: float


class Silence:
    """A display that shows nothing."""

    def say(self, line: str) -> None:
        """Nothing."""

    def standing(self, now: Standing) -> None:
        """Nothing."""

    def progress(self, lived: float, *, replayed: bool) -> None:
        """Nothing."""

    def tables(self, tables: Sequence[Table]) -> None:
        """Nothing."""


def known_results(folder: Path, *, fresh: bool = False) -> Kept[RunSpec, RunResult]:
    """The results that a folder keeps of these sources; ``fresh`` drops them."""
    here = Path(__file__)
    digest = sources_digest(here, here.with_name("kept.py"), here.with_name("defaults.py"))
    return Kept(folder / f"runs-{digest}.jsonl", (RunSpec, RunResult), fresh=fresh)


def run_all(
    specs: Sequence[RunSpec],
    env: Callable[[RunSpec], Path],
    jobs: int,
    results: Kept[RunSpec, RunResult],
) -> None:
    """Run what is not yet known, a line of progress for each.

    Args:
        specs: The runs.
        env: Where the environment file of a run is.
        jobs: Runs side by side.
        results: What is known; grows.
    """
    todo = [spec for spec in specs if spec not in results]
    if len(todo) < len(specs):
        print(f"{len(specs) - len(todo)} of {len(specs)} runs are known already", flush=True)
    began = time.monotonic()
    tasks = {spec: partial(execute, spec, env(spec)) for spec in todo}
    for done, (spec, result) in enumerate(side_by_side(tasks, jobs), 1):
        results.add(spec, result)
        left = (time.monotonic() - began) / done * (len(todo) - done)
        print(
            f"{done}/{len(todo)} {spec.name}: gain {number(result.gain, 3)}, "
            f"{result.accepted} of {result.candidates} accepted, {result.seconds:.0f} s; "
            f"about {left / 60:.0f} min left",
            flush=True,
        )


def execute(spec: RunSpec, env: Path) -> RunResult:
    """One run in this process, in a temporary folder."""
    options = Options(
        budget=spec.budget,
        env=str(env),
        policy=spec.policy,
        strategy=spec.strategy,
        holdout=spec.holdout,
        seed=spec.seed,
    )
    began = time.monotonic()
    with TemporaryDirectory() as name:
        folder = Path(name) / "run"
        outcome = policy_run(options, folder, Means(), Watch(Silence(), lambda: False))
        seconds = time.monotonic() - began
        defaults: tuple[float | None, float | None] = (None, None)
        if spec.strategy == "joint" and spec.holdout == "users":
            defaults = over_defaults(outcome, options)
        return _result(outcome, defaults, folder, seconds)


def _result(
    outcome: Outcome, defaults: tuple[float | None, float | None], folder: Path, seconds: float
) -> RunResult:
    seed, best = outcome.tested["seed"], outcome.tested["best"]
    stays = seed.policy.id == best.policy.id
    gain = None if stays else outcome.gain
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    stages = [read_policy(path).scores.get("stage") for path in folder.glob("candidates/*.yaml")]
    return RunResult(
        seed_memory=seed.scores.memory,
        best_memory=best.scores.memory,
        gain=0.0 if stays else None if gain is None else gain.mean,
        low=None if gain is None else gain.low,
        high=None if gain is None else gain.high,
        default_memory=defaults[0],
        over_default=defaults[1],
        accepted=len(summary["versions"]) - 1,
        candidates=sum(stage in _SCORED for stage in stages),
        seed_unwritten=seed.scores.trace.get(TraceStage.UNWRITTEN),
        best_unwritten=best.scores.trace.get(TraceStage.UNWRITTEN),
        gate_gain=summary["gate_gain"],
        test_gain=best.scores.accuracy - seed.scores.accuracy,
        shrinkage=outcome.shrinkage,
        seed_tokens=seed.tokens,
        best_tokens=best.tokens,
        spent=summary["spent"],
        seconds=seconds,
    )


def run_table(title: str, runs: Mapping[str, RunResult]) -> Table:
    """A row per run: what it found, what it took; the defaults where any run was held to them."""
    compared = any(r.default_memory is not None for r in runs.values())
    columns = (
        *("run", "seed", "best", "gain [95 %]"),
        *(("seed at default settings", "best over that") if compared else ()),
        *("accepted", "candidates"),
        *("unwritten seed", "best", "shrinkage", "tokens/answer seed", "best", "seconds"),
    )
    rows = tuple(
        (
            *(name, number(r.seed_memory, 3), number(r.best_memory, 3), _gain(r)),
            *((number(r.default_memory, 3), _signed(r.over_default)) if compared else ()),
            *(str(r.accepted), str(r.candidates)),
            *(number(r.seed_unwritten, 3), number(r.best_unwritten, 3), number(r.shrinkage, 2)),
            *(number(r.seed_tokens, 0), number(r.best_tokens, 0), f"{r.seconds:.0f}"),
        )
        for name, r in runs.items()
    )
    return Table(title, columns, rows)


def _gain(result: RunResult) -> str:
    if result.gain is None:
        return "undefined"
    if result.low is None:
        return f"{_signed(result.gain)} (seed stays)"
    return f"{result.gain:+.3f} [{number(result.low, 3)}, {number(result.high, 3)}]"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def peak_memory() -> float:
    """The largest that this process or any that it started has been, in MB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(one).ru_maxrss for one in who) / unit
