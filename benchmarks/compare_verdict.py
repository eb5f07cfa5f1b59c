"""What a comparison has shown so far: differences by draw, the family's verdicts, who goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from benchmarks.compare_run import Ran
from benchmarks.compare_worlds import WORLDS, CompareSpec
from evolve.anytime import first_reached, value_at
from evolve.families import Judged, Looks, judge_family
from evolve.stats import Interval, mean_interval

OURS, NEAR, SEED = "joint", "sequential", "seed"
RIVALS = (
    SEED,
    "placebo",
    "random",
    "search-only",
    "rewrite-only",
    "self-evolution",
    "diagnose-and-set",
    "gepa",
)
"""What joint must be above; the seed is scored by every run."""
MARGIN = 0.01  # by which joint may lie below sequential
SHARE = 0.75  # of what sequential spends, within which joint must reach its final score
MOST_SHRINKAGE = 1 / 3
_FEWEST_FOR_LOOKS = 6


def looks_of(draws: int) -> Looks:
    """Looks after each third of the draws; one at the end where these are few."""
    if draws < _FEWEST_FOR_LOOKS:
        return Looks((max(2, draws),))
    return Looks((draws // 3, 2 * draws // 3, draws))


@dataclass(frozen=True, slots=True)
class Compared:
    """Runs that are known.

    Attributes:
        runs: (world, strategy) to the runs, by draw.
        looks: When the family is judged.
    """

    runs: Mapping[tuple[str, str], Mapping[int, Ran]]
    looks: Looks

    def of(self, world: str, strategy: str) -> list[Ran]:
        """Runs of a strategy in the order of draws."""
        by_draw = self.runs.get((world, strategy), {})
        return [by_draw[draw] for draw in sorted(by_draw)]

    def differences(self, world: str, rival: str) -> list[float]:
        """Final memory score of joint less the rival's, draw by draw, up to the first unknown."""
        ours = self.runs.get((world, OURS), {})
        theirs = ours if rival == SEED else self.runs.get((world, rival), {})
        found: list[float] = []
        for draw in count():
            if draw not in ours or draw not in theirs:
                return found
            mine = ours[draw].best.memory
            other = theirs[draw].seed.memory if rival == SEED else theirs[draw].best.memory
            if mine is None or other is None:
                return found
            found.append(mine - other)
        raise AssertionError("there is always a next draw")

    def family(self, worlds: Iterable[str], rivals: Iterable[str]) -> dict[tuple[str, str], Judged]:
        """Verdicts on joint against each rival in each judged world, as one family."""
        pairs = [(w, r) for w in worlds if WORLDS[w].judged for r in rivals]
        differences = {f"{world} {rival}": self.differences(world, rival) for world, rival in pairs}
        judged = judge_family(differences, self.looks)
        return {(world, rival): judged[f"{world} {rival}"] for world, rival in pairs}

    def near(self, world: str) -> Interval | None:
        """Joint less sequential; None without draws."""
        found = self.differences(world, NEAR)
        return mean_interval(found) if found else None

    def catches_up(self, world: str) -> tuple[float | None, float, float] | None:
        """When joint's mean curve reaches what sequential ends with.

        Returns:
            Rollouts spent by then, None if never; what sequential could spend on evolving; and what
            it ends with. None where either has no draws.
        """
        ours = [run.steps for run in self.of(world, OURS)]
        theirs = [run.steps for run in self.of(world, NEAR)]
        curves = [steps for steps in ours if steps is not None]
        ends = [value_at(steps, steps[-1].spent) for steps in theirs if steps is not None]
        if not curves or not ends:
            return None
        target = sum(ends) / len(ends)
        evolving = [run.evolving for run in self.of(world, NEAR)]
        return first_reached(curves, target), sum(evolving) / len(evolving), target


def compared(known: Mapping[CompareSpec, Ran], first_seed: int, looks: Looks) -> Compared:
    """The runs of one comparison by world, strategy and draw."""
    runs: dict[tuple[str, str], dict[int, Ran]] = {}
    for spec, ran in known.items():
        runs.setdefault((spec.world, spec.strategy), {})[spec.seed - first_seed] = ran
    return Compared(runs, looks)


def shrinkage_of(runs: Sequence[Ran]) -> float | None:
    """Share of the gate's gain that test users do not show, gains of all runs together.

    None where there was no gain at a gate.
    """
    gains = [(run.gate_gain, run.test_gain) for run in runs if run.gate_gain is not None]
    at_gate = sum(gate for gate, _ in gains)
    return (at_gate - sum(test for _, test in gains)) / at_gate if at_gate > 0 else None


def going_on(
    found: Compared, worlds: Sequence[str], strategies: Sequence[str]
) -> dict[str, list[str]]:
    """World to the strategies that need more draws: not those whose comparison has ended."""
    rivals = [name for name in RIVALS if name == SEED or name in strategies]
    ended = {pair for pair, one in found.family(worlds, rivals).items() if one.state != "open"}
    return {
        world: [name for name in strategies if name in {OURS, NEAR} or (world, name) not in ended]
        for world in worlds
    }
