"""Searches the settings that find evidence best: Optuna on some dialogues, a gate on others.

The study has two objectives, evidence recall and precision; more is better of both. What is chosen
has the highest recall of all that keep a limit of tokens shown: without one, showing everything
would find everything. The whole front is told.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import fmean, median
from typing import TYPE_CHECKING, Literal, cast

from evolve.gym.users import thirds
from evolve.locomo.dialogues import Dialogue
from evolve.locomo.differences import over_dialogues
from evolve.locomo.retrieval import SEARCHED, Finder, Found, mean_of
from evolve.optimize.effects import Told
from evolve.optimize.gate import RUN_LEVEL
from evolve.optimize.search import MOST_CHANGED, MOST_DRAWS, as_trial, suggest
from evolve.seeding import derive
from evolve.stats import Interval, guarded_t
from policies.errors import ConfigError
from policies.settings import Setting, SettingValue, applicable

if TYPE_CHECKING:
    from optuna.study import Study

OPERATOR = "search:evidence"  # in the lineage of what is chosen
SPACE = tuple(setting for setting in applicable("rag") if setting.name in SEARCHED)
STARTUP_TRIALS = 10  # before TPE takes over, the first settings among them
CHANCE_SHARE = 0.25  # of later proposals: all is drawn by chance
TPE_SHARE = 0.375  # of later proposals: all is suggested by TPE; the rest stay near the best
SUGGESTIONS = 4  # for one proposal, before chance has its turn: TPE comes back to what it likes
_TO_SPARE = 1.5  # of the limit: what is drawn may exceed it, as mean sizes differ
_TOP_K = next(setting for setting in SPACE if setting.name == "top_k")
FEWEST = 3  # dialogues: one to search on, one for the gate, one for the report
_DIRECTIONS: tuple[Literal["maximize"], Literal["maximize"]] = ("maximize", "maximize")


@dataclass(frozen=True, slots=True)
class Parts:
    """Dialogues to search on, for the gate, and for the report at the end."""

    train: tuple[Dialogue, ...]
    gate: tuple[Dialogue, ...]
    test: tuple[Dialogue, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """Settings and what they find on the train dialogues.

    Attributes:
        settings: Those of ``SPACE``.
        recall: Mean over questions, in 0..1.
        precision: Mean over questions, in 0..1.
        tokens: Mean size of what is shown.
    """

    settings: Mapping[str, SettingValue]
    recall: float
    precision: float
    tokens: float


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What the gate says of one candidate.

    Attributes:
        accepted: Whether it finds more evidence than what the run began with.
        difference: Mean over dialogues of the paired difference in recall.
        p: One-sided, that there is no gain; dialogues are the clusters.
        dialogues: How many.
    """

    accepted: bool
    difference: float
    p: float
    dialogues: int


def split(dialogues: Sequence[Dialogue], seed: int) -> Parts:
    """Thirds in a seeded order, as users are split.

    Raises:
        ConfigError: There are too few.
    """
    if len(dialogues) < FEWEST:
        raise ConfigError(
            "A search needs dialogues to learn from, others for the gate and others for the "
            f"report, {FEWEST} at least, but the file has {len(dialogues)}; add dialogues, or only "
            "score a policy with evolve.eval."
        )
    by_id = {dialogue.id: dialogue for dialogue in dialogues}
    return Parts(*(tuple(by_id[name] for name in part) for part in thirds(by_id, seed)))


def measure(finder: Finder, settings: Mapping[str, SettingValue]) -> Trial:
    """Try settings on a finder's dialogues."""
    found = mean_of(finder.find(settings))
    kept = {setting.name: settings[setting.name] for setting in SPACE}
    return Trial(kept, found.recall, found.precision, found.tokens)


def propose(trials: Sequence[Trial], limit: int, seed: int) -> dict[str, SettingValue] | None:
    """Settings that were not tried yet; None where none are found.

    Args:
        trials: So far.
        limit: Of tokens shown, which others count as infeasible over.
        seed: Of this proposal.
    """
    draw = random.Random(derive(seed, "draw"))
    known = [dict(trial.settings) for trial in trials]
    way = draw.random() if len(trials) >= STARTUP_TRIALS else 0.0
    study = _study(trials, limit, seed) if way >= 1 - TPE_SHARE else None
    best = choose(trials, limit).settings
    for number in range(MOST_DRAWS):
        if way < CHANCE_SHARE or number >= SUGGESTIONS:
            drawn = _by_chance(draw, best, SPACE, trials, limit)
        elif study is not None:
            drawn = suggest(study, SPACE)
        else:
            free = draw.sample(SPACE, draw.randint(1, MOST_CHANGED))
            drawn = _by_chance(draw, best, free, trials, limit)
        if drawn not in known:
            return drawn
    return None


def _by_chance(
    draw: random.Random,
    best: Mapping[str, SettingValue],
    free: Sequence[Setting],
    trials: Sequence[Trial],
    limit: int,
) -> dict[str, SettingValue]:
    """Some settings of the best drawn anew; a new unit of entries takes a new number of them."""
    drawn = dict(best)
    for setting in free:
        if setting.values:
            drawn[setting.name] = draw.choice(setting.values)
        elif setting.optional:
            on = draw.random() < 0.5
            drawn[setting.name] = _number(draw, setting.low, setting.high) if on else None
    if {"top_k", "granularity"} & {setting.name for setting in free}:
        most = _most_entries(trials, drawn["granularity"], limit)
        least = _TOP_K.low
        if len(free) < len(SPACE) and drawn["granularity"] == best["granularity"]:
            least = min(most, max(least, cast(int, best["top_k"]) // 2))
        drawn["top_k"] = _number(draw, least, most)
    return drawn


def _number(draw: random.Random, low: int, high: int) -> int:
    """A number by ratio: five sessions differ from one more than fifty from forty-six."""
    size: float = low * (high / low) ** draw.random()
    return round(size)


def _most_entries(trials: Sequence[Trial], granularity: SettingValue, limit: int) -> int:
    """How many entries of a kind keep the limit, with some to spare, as far as trials tell."""
    sizes = [
        trial.tokens / cast(int, trial.settings["top_k"])
        for trial in trials
        if trial.settings["granularity"] == granularity
    ]
    if not sizes:
        return _TOP_K.high
    return min(_TOP_K.high, max(_TOP_K.low, round(_TO_SPARE * limit / median(sizes))))


def choose(trials: Sequence[Trial], limit: float) -> Trial:
    """The trial with the highest recall of those that keep the limit; the first if none does."""
    kept = [trial for trial in trials if trial.tokens <= limit]
    return max(kept, key=lambda trial: (trial.recall, trial.precision), default=trials[0])


def front(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials that no other beats in recall and precision, the most precise first."""
    kept: list[Trial] = []
    for trial in sorted(trials, key=lambda t: (-t.precision, -t.recall)):
        if not kept or trial.recall > kept[-1].recall:
            kept.append(trial)
    return tuple(kept)


def recalls(found: Sequence[Found]) -> dict[str, float]:
    """Dialogue to its mean recall."""
    groups: dict[str, list[float]] = {}
    for one in found:
        groups.setdefault(one.dialogue, []).append(one.recall)
    return {dialogue: fmean(values) for dialogue, values in groups.items()}


def judge(candidate: Sequence[Found], incumbent: Sequence[Found]) -> GateVerdict:
    """Whether a candidate finds more on the gate's dialogues; the run's whole level is spent on it.

    Args:
        candidate: What it finds there.
        incumbent: What it is compared with finds for the same questions.
    """
    mine, other = recalls(candidate), recalls(incumbent)
    differences = [mine[dialogue] - other[dialogue] for dialogue in sorted(mine)]
    fewest = min(sum(one.dialogue == dialogue for one in candidate) for dialogue in mine)
    p = guarded_t(differences, fewest)
    return GateVerdict(p <= RUN_LEVEL, fmean(differences), p, len(differences))


def gain_interval(
    best: Sequence[Found],
    seed: Sequence[Found],
    run_seed: int,
    measure: Literal["recall", "precision"],
) -> Interval:
    """The mean paired difference over questions, with dialogues drawn whole.

    Args:
        best: What one policy finds.
        seed: What the other finds for the same questions.
        run_seed: Of the run.
        measure: Whose difference it is.
    """
    of = attrgetter(measure)
    pairs = zip(best, seed, strict=True)
    gains = ((mine.dialogue, of(mine) - of(other)) for mine, other in pairs)
    return over_dialogues(gains, run_seed)


def _study(trials: Sequence[Trial], limit: int, seed: int) -> Study:
    """A study in memory that was told all trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(
        n_startup_trials=STARTUP_TRIALS, seed=derive(seed, "tpe") % 2**32
    )
    study = optuna.create_study(directions=_DIRECTIONS, sampler=sampler)
    for trial in trials:
        shape = as_trial(SPACE, Told(trial.settings, 0.0, 0.0))
        study.add_trial(
            optuna.trial.create_trial(
                params=shape.params,
                distributions=shape.distributions,
                values=[trial.recall, trial.precision],
                constraints={"tokens": trial.tokens / limit - 1},
            )
        )
    return study
