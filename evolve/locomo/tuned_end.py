"""The end of a search by the evidence: test dialogues, and what its files and tables say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from evolve.gains import shown_gain
from evolve.locomo.dialogues import Dialogue
from evolve.locomo.retrieval import Finder, Found, mean_of
from evolve.locomo.retrieval_tables import front_table, limit_table, retrieval_table
from evolve.locomo.tuning import Parts, Trial, front, gain_interval
from evolve.stats import Interval
from evolve.tables import Table
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Ended:
    """What the run found on the test dialogues.

    Attributes:
        seed: That the run began with.
        best: The policy that it ends with.
        seed_found: What the seed finds.
        best_found: What the best finds.
        recall_gain: Of the best over the seed, over dialogues.
        precision_gain: The same in precision.
        limit: Of tokens shown, on average.
        sizes: Part, ``train``, ``gate`` or ``test``, to the mean size of what seed and best show.
    """

    seed: Policy
    best: Policy
    seed_found: tuple[Found, ...]
    best_found: tuple[Found, ...]
    recall_gain: Interval
    precision_gain: Interval
    limit: int
    sizes: dict[str, tuple[float, float]]

    @property
    def lines(self) -> tuple[str, ...]:
        """The run's last words: what was found, and whether the limit holds."""
        seed, best = mean_of(self.seed_found), mean_of(self.best_found)
        recall = f"recall seed {seed.recall:.3f} → best {best.recall:.3f}"
        precision = f"precision {seed.precision:.4f} → {best.precision:.4f}"
        found = (
            f"test dialogues: evidence {recall}, {shown_gain(self.recall_gain, 3)}; {precision}, "
            f"{shown_gain(self.precision_gain, 4)}; n = {best.questions} questions of "
            f"{self.recall_gain.n} dialogues"
        )
        held = "holds" if best.tokens <= self.limit else "does not hold"
        tokens = (
            f"the limit of {self.limit} tokens shown {held} on the test dialogues: seed "
            f"{seed.tokens:.0f} → best {best.tokens:.0f}"
        )
        return found, tokens


def end(parts: Parts, seed: Policy, best: Policy, limit: int, run_seed: int) -> Ended:
    """Search the test dialogues with both policies.

    Args:
        parts: Dialogues; what is shown of all of them is measured.
        seed: That the run began with.
        best: That it ends with.
        limit: Of tokens shown, on average.
        run_seed: Of the run.
    """
    before, after = _both(parts.test, seed, best)
    sizes = {"test": (before, after)}
    sizes |= {name: _both(getattr(parts, name), seed, best) for name in ("train", "gate")}
    return Ended(
        seed=seed,
        best=best,
        seed_found=before,
        best_found=after,
        recall_gain=gain_interval(after, before, run_seed, "recall"),
        precision_gain=gain_interval(after, before, run_seed, "precision"),
        limit=limit,
        sizes={
            name: (mean_of(sizes[name][0]).tokens, mean_of(sizes[name][1]).tokens)
            for name in ("train", "gate", "test")
        },
    )


def _both(
    dialogues: Sequence[Dialogue], seed: Policy, best: Policy
) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    finder = Finder(dialogues)
    return finder.find(seed.settings), finder.find(best.settings)


def best_scores(ended: Ended) -> dict[str, object]:
    """What ``best.yaml`` says of the best policy."""
    best = mean_of(ended.best_found)
    return {
        "split": "test",
        "questions": best.questions,
        "evidence_recall": best.recall,
        "evidence_precision": best.precision,
        "tokens_shown": best.tokens,
        "recall_gain": list(_ends(ended.recall_gain).values())[:3],
    }


def summary(ended: Ended, trials: Sequence[Trial]) -> dict[str, Any]:
    """The end in numbers, for ``summary.json``, without what was spent."""
    tested = {"seed": mean_of(ended.seed_found), "best": mean_of(ended.best_found)}
    return {
        "schema": 1,
        "ended": "all settings that the budget buys were tried",
        "seed_policy": ended.seed.id,
        "best_policy": ended.best.id,
        "versions": list(dict.fromkeys((ended.seed.id, ended.best.id))),
        "test": {},  # nobody answered anything
        "gain": None,
        "over_baselines": {},
        "usage": {},
        "bound_usage": {},
        "evidence": {name: asdict(found) for name, found in tested.items()},
        "recall_gain": _ends(ended.recall_gain),
        "precision_gain": _ends(ended.precision_gain),
        "limit": ended.limit,
        "tokens_shown": {
            part: dict(zip(("seed", "best"), sizes, strict=True))
            for part, sizes in ended.sizes.items()
        },
        "limit_holds": tested["best"].tokens <= ended.limit,
        "trials": len(trials),
        "front": [asdict(trial) for trial in front(trials)],
    }


def front_data(ended: Ended, trials: Sequence[Trial]) -> dict[str, Any]:
    """Settings that no others beat on the train dialogues, for ``pareto.yaml``."""
    return {
        "schema": 1,
        "split": "train",
        "limits": {"tokens_shown": ended.limit},
        "best": ended.best.id,
        "front": [
            {
                "policy": ended.seed.derive(settings=trial.settings).id,
                "settings": dict(trial.settings),
                "recall": round(trial.recall, 6),
                "precision": round(trial.precision, 6),
                "tokens_shown": round(trial.tokens, 3),
            }
            for trial in front(trials)
        ],
    }


def closing(ended: Ended, trials: Sequence[Trial]) -> list[Table]:
    """The tables that the run ends with."""
    found = {"seed": ended.seed_found, f"best {ended.best.short_id}": ended.best_found}
    return [
        front_table(front(trials)),
        retrieval_table("Test dialogues", found),
        limit_table(ended.sizes, ended.limit),
    ]


def _ends(gain: Interval) -> dict[str, Any]:
    low, high = (end if isfinite(end) else None for end in (gain.low, gain.high))
    return {"mean": gain.mean, "low": low, "high": high, "clusters": gain.n}
