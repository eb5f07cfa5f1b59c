"""Runs of a comparison side by side: those that are not known, with the time that is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare_run import Ran
from benchmarks.compare_worlds import CompareSpec
from benchmarks.kept import Kept, side_by_side, sources_digest
from evolve.tables import number

_HERE = Path(__file__).parent
_MODULES = ("ablation", "compare_run", "compare_worlds", "kept", "rollouts", "runs")


def sources() -> str:
    """Digest of all that a run of a comparison depends on."""
    return sources_digest(*(_HERE / f"{name}.py" for name in _MODULES))


@dataclass(frozen=True, slots=True)
class Pool:
    """Runs what is not known.

    Attributes:
        kept: Runs that are known; grows.
        jobs: Runs at once.
        digest: Of the sources.
    """

    kept: Kept[CompareSpec, Ran]
    jobs: int
    digest: str

    @classmethod
    def of(cls, file: str, cache: Path, jobs: int, *, fresh: bool) -> Pool:
        """A pool whose runs are kept in a file of these sources."""
        digest = sources()
        path = cache / f"{file}-{digest}.jsonl"
        return cls(Kept(path, (CompareSpec, Ran), fresh=fresh), jobs, digest)

    def run(
        self,
        tasks: Mapping[CompareSpec, Callable[[], Ran]],
        planned: Sequence[CompareSpec],
    ) -> None:
        """Run what is not known, a line of progress for each.

        Args:
            tasks: The runs.
            planned: All that may be run by the end, for the time that is left.

        Raises:
            SystemExit: The sources changed meanwhile, so that results would not belong together.
        """
        todo = {spec: task for spec, task in tasks.items() if spec not in self.kept}
        if len(todo) < len(tasks):
            print(f"{len(tasks) - len(todo)} of {len(tasks)} runs are known already", flush=True)
        for done, (spec, ran) in enumerate(side_by_side(todo, self.jobs), 1):
            if sources() != self.digest:
                raise SystemExit("The sources changed under the comparison; start it again.")
            self.kept.add(spec, ran)
            print(
                f"{done}/{len(todo)} {spec.name}: memory {number(ran.seed.memory, 3)} to "
                f"{number(ran.best.memory, 3)}, {ran.accepted} of {ran.candidates} accepted, "
                f"{ran.seconds:.0f} + {ran.scoring:.0f} s; "
                f"about {self.left(planned) / 60:.0f} min left",
                flush=True,
            )

    def left(self, planned: Sequence[CompareSpec]) -> float:
        """Seconds that those which are not known will take, by those which are."""
        took: dict[str, list[float]] = {}
        for spec, ran in self.kept.items():
            took.setdefault(spec.strategy, []).append(ran.seconds + ran.scoring)
        usual = sum(map(sum, took.values())) / max(1, sum(map(len, took.values())))
        means = {name: sum(seconds) / len(seconds) for name, seconds in took.items()}
        todo = [spec for spec in planned if spec not in self.kept]
        return sum(means.get(spec.strategy, usual) for spec in todo) / self.jobs
