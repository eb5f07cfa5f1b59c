"""One run of a comparison: what its versions score on test users, outside of its budget.

A run sees nothing of these scores. Its curve says from which spending on which version was the
best by the strategy's own rule, and what that version scores.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.compare_worlds import CompareSpec, Place, make_place
from benchmarks.rollouts import bound_all, live_all, pooled
from benchmarks.runs import Silence
from evolve.anytime import Step
from evolve.config import Options
from evolve.display import Standing
from evolve.finish import Outcome
from evolve.gym.users import load_users
from evolve.means import Means
from evolve.policy_run import Watch, policy_run
from evolve.prepare import prepare
from evolve.workers import HereWorkers
from feedback.records import TraceStage
from feedback.scores import Scores, score
from policies.policy import Policy, read_policy


@dataclass(frozen=True, slots=True)
class Found:
    """What one policy scored on test users; shares of all answers. None is undefined.

    Attributes:
        memory: Memory score.
        accuracy: Right answers.
        write: Wrong ones by a write failure; None like the next two where probes are missing.
        read: By a read failure.
        utilization: By a utilization failure.
        format: Answers whose choice could not be read.
        trace: Trace stage to the share of answers whose earliest lost step it is.
        tokens: Per answer.
    """

    memory: float | None
    accuracy: float
    write: float | None
    read: float | None
    utilization: float | None
    format: float
    trace: Mapping[str, float]
    tokens: float


@dataclass(frozen=True, slots=True)
class Point:
    """From this spending on, this version was the best.

    Attributes:
        spent: Rollouts charged by then.
        policy: Id of the version.
        memory: Its memory score on test users.
        tokens: Its tokens per answer.
    """

    spent: float
    policy: str
    memory: float | None
    tokens: float


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run found.

    Attributes:
        curve: Best so far, the seed first, at 0.
        seed: The seed on test users.
        best: The version that the run ended with.
        evolving: Rollouts of the budget that were not kept for the final scoring.
        spent: Rollouts charged in all.
        accepted: Versions accepted.
        candidates: Candidates that differ from their parent.
        gate_gain: Best less seed in accuracy at the gate; None where there was no gate.
        test_gain: The same on the environment's own test users.
        ended: Why the run ended.
        seconds: Wall time of the run on one core.
        scoring: Wall time of scoring versions beside it.
    """

    curve: tuple[Point, ...]
    seed: Found
    best: Found
    evolving: float
    spent: float
    accepted: int
    candidates: int
    gate_gain: float | None
    test_gain: float
    ended: str
    seconds: float
    scoring: float

    @property
    def steps(self) -> list[Step] | None:
        """The curve as numbers; None where a score is undefined."""
        known = [point.memory for point in self.curve if point.memory is not None]
        if len(known) < len(self.curve):
            return None
        return [Step(p.spent, m) for p, m in zip(self.curve, known, strict=True)]


class Recorder(Silence):
    """A display that notes which version was the best when.

    Attributes:
        best: (spent, id of the policy) whenever another version became the best.
        evolving: Rollouts that are not kept for the end.
    """

    def __init__(self) -> None:
        self.best: list[tuple[float, str]] = []
        self.evolving = 0.0

    def standing(self, now: Standing) -> None:
        """Note the best version."""
        self.evolving = now.budget - now.set_aside
        if not self.best or self.best[-1][1] != now.policy:
            self.best.append((now.spent, now.policy))


def execute(
    spec: CompareSpec, data: Path | None, ablation: AbstractContextManager[None] | None = None
) -> Ran:
    """Run a strategy in this process, in a temporary folder, and score its versions.

    Args:
        spec: The run.
        data: Folder of the published data.
        ablation: What holds while the strategy runs.

    Raises:
        RuntimeError: Seed and best could not be compared.
    """
    with TemporaryDirectory() as name:
        place = make_place(spec, Path(name), data)
        options = Options(
            budget=spec.budget,
            env=str(place.env),
            strategy=spec.strategy,
            holdout=spec.holdout,
            seed=spec.seed,
            max_answer_tokens=spec.most_tokens,
        )
        folder, recorder = Path(name) / "run", Recorder()
        began = time.monotonic()
        with ablation or nullcontext():
            outcome = policy_run(options, folder, Means(), Watch(recorder, lambda: False))
        ran = time.monotonic()
        if outcome.failure is not None:
            raise RuntimeError(f"{spec.name}: {outcome.failure}")
        seed, best = outcome.tested["seed"].policy, outcome.tested["best"].policy
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        marks = _marks(recorder, seed, best, summary["spent"])
        versions = _versions(folder, (seed, best), {policy for _, policy in marks})
        found = score_versions(versions, options, place)
        scored = time.monotonic()
        return Ran(
            curve=tuple(Point(at, p, found[p].memory, found[p].tokens) for at, p in marks),
            seed=found[seed.id],
            best=found[best.id],
            evolving=recorder.evolving,
            seconds=ran - began,
            scoring=scored - ran,
            **_of_summary(summary, outcome, len(list(folder.glob("candidates/*.yaml")))),
        )


def _marks(recorder: Recorder, seed: Policy, best: Policy, spent: float) -> list[tuple[float, str]]:
    """When which version became the best, from the seed at 0 to the one that the run ended with."""
    marks = [(0.0, seed.id)]
    for at, policy in (*recorder.best, (min(spent, recorder.evolving), best.id)):
        if policy != marks[-1][1]:
            marks.append((max(at, marks[-1][0]), policy))
    return marks


def _versions(folder: Path, ends: Sequence[Policy], wanted: set[str]) -> dict[str, Policy]:
    """Policies by id, as the run wrote them."""
    read = [read_policy(path) for path in sorted(folder.glob("policies/*.yaml"))]
    known = {policy.id: policy for policy in (*read, *ends)}
    return {policy: known[policy] for policy in sorted(wanted)}


def score_versions(
    versions: Mapping[str, Policy], options: Options, place: Place
) -> dict[str, Found]:
    """What policies score on the test users, in the run's own world.

    Raises:
        RuntimeError: A policy failed on a user.
    """
    prepared, here = prepare(options, Means()), HereWorkers()
    budget = options.budget
    assert isinstance(budget, int)  # comparisons are in rollouts
    field, _ = prepared.plan(budget)
    users = field.test if place.test is None else load_users(place.test)
    bounds = bound_all(users, prepared.spec, here)
    found = {}
    for name, lived in live_all(versions, users, prepared.spec, here).items():
        scores = score(field.select(pooled(lived), "test"), bounds)
        found[name] = _found(scores, sum(one.tokens for one in lived) / len(lived))
    return found


def _found(scores: Scores, tokens: float) -> Found:
    return Found(
        memory=scores.memory,
        accuracy=scores.accuracy,
        write=scores.write,
        read=scores.read,
        utilization=scores.utilization,
        format=scores.format,
        trace={stage.value: scores.trace.get(stage, 0.0) for stage in TraceStage},
        tokens=tokens,
    )


def _of_summary(summary: Mapping[str, Any], outcome: Outcome, candidates: int) -> dict[str, Any]:
    seed, best = outcome.tested["seed"].scores, outcome.tested["best"].scores
    return {
        "spent": summary["spent"],
        "accepted": len(summary["versions"]) - 1,
        "candidates": candidates,
        "gate_gain": summary["gate_gain"],
        "test_gain": best.accuracy - seed.accuracy,
        "ended": summary["ended"],
    }
