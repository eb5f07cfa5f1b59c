"""The proposer of settings: Optuna suggests some of the parent's settings anew.

The study is built in memory from what was observed whenever something is proposed, so nothing is
stored and nothing can disagree with the journal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from evolve.optimize.base import Proposal, ProposalContext, Verdict
from evolve.optimize.effects import Told, known_settings, tokens_of, told_of
from evolve.seeding import derive
from policies.settings import Setting, SettingValue

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

STARTUP_TRIALS = 5  # told trials, the parent's own among them, before TPE takes over from chance
MOST_CHANGED = 2  # settings that most proposals draw anew: the rest of a good policy stays as it is
JUMPS = 0.4  # of proposals: may draw any number, since some settings only gain together
MOST_DRAWS = 50  # suggestions before it is found that there is nothing new
_SIZES_FROM = 100  # smallest value of a setting that is searched by ratio: numbers of tokens
DIRECTIONS: tuple[Literal["maximize"], Literal["minimize"]] = ("maximize", "minimize")
"""Of the difference in accuracy, and of the tokens per answer."""
_SEARCHED = re.compile(r"\bsearch(?::\w+)?$")  # an operator, alone or after another
_ON = ".on"  # of an optional integer: whether it is set at all


class SearchProposer:
    """Searches the settings of the parent's architecture.

    Two objectives: the paired difference on the minibatch (more is better) and the tokens per
    answer (fewer are better). Settings below the parent's accuracy count as infeasible, so that
    cheap but forgetful ones do not draw the search, and so do those over the limit of tokens per
    answer, where there is one; sizes of memory over its limit are not drawn at all.

    It begins with what all candidates of the run say of settings, whatever text they were tried
    with (``evolve.optimize.effects``). What was tried with the parent's text is not proposed again.
    """

    def propose(self, context: ProposalContext, among: Collection[str] = ()) -> Proposal:
        """Suggest settings not yet tried; an empty proposal where none are found.

        Args:
            context: As for every proposer.
            among: Settings of which one at least is drawn anew; by default any.
        """
        settings = context.constraints.settings_of(context.parent.architecture)
        if not settings:
            return Proposal("search")
        known = known_settings(context)
        study = study_of(context)
        draw = random.Random(derive(context.seed, "settings"))
        own = dict(context.parent.settings)
        first = [setting for setting in settings if setting.name in among] or settings
        # Two settings may not be enough to get below a limit, or from one good place to a better.
        over = context.constraints.too_dear(tokens_of(context)) is not None
        most = len(settings) if over or draw.random() < JUMPS else MOST_CHANGED
        for _ in range(MOST_DRAWS):
            free = [draw.choice(first)]
            rest = [setting for setting in settings if setting not in free]
            free += draw.sample(rest, draw.randint(0, min(most - 1, len(rest))))
            changed = suggest(study, free)
            if {**own, **changed} not in known and not changed.items() & own.items():
                return Proposal("search", settings=changed)
        return Proposal("search")

    def observe(self, verdict: Verdict) -> None:
        """Nothing to remember: contexts hold all that was tried."""


def gains_of(verdicts: Iterable[Verdict]) -> dict[str, float]:
    """Policy to its accuracy above the seed's, as far as that is known."""
    gains: dict[str, float] = {}
    for verdict in verdicts:
        if _scored(verdict):
            known = gains.get(verdict.incumbent, 0.0)
            gains[verdict.candidate] = known + (verdict.minibatch_difference or 0.0)
    return gains


def is_told(verdict: Verdict) -> bool:
    """Whether a candidate says something of settings: it was scored, and it searched."""
    return _scored(verdict) and bool(_SEARCHED.search(verdict.operator))


def _scored(verdict: Verdict) -> bool:
    return verdict.minibatch_difference is not None and verdict.tokens_per_answer is not None


def fits(found: Mapping[str, SettingValue], settings: Sequence[Setting]) -> bool:
    """Whether settings are those of this architecture."""
    return found.keys() == {s.name for s in settings} and all(
        s.accepts(found[s.name]) for s in settings
    )


def study_of(context: ProposalContext) -> Study:
    """A study in memory that was told everything, of other architectures what they share."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # Each setting is sampled from the trials that have it, so that architectures may differ.
    sampler = optuna.samplers.TPESampler(
        n_startup_trials=STARTUP_TRIALS, seed=derive(context.seed, "tpe") % 2**32
    )
    study = optuna.create_study(directions=DIRECTIONS, sampler=sampler)
    for architecture, one in told_of(context):
        settings = context.constraints.settings_of(architecture)
        if fits(one.settings, settings):
            study.add_trial(as_trial(settings, one, context.constraints.answer_tokens))
    return study


def as_trial(settings: Sequence[Setting], told: Told, limit: int | None = None) -> FrozenTrial:
    """What is known of some settings, as Optuna has it.

    Args:
        settings: That apply.
        told: What is known of them.
        limit: Of tokens per answer, or None.
    """
    from optuna.trial import create_trial

    constraints = {"no worse than the parent": -told.difference}
    if limit is not None:  # as a share of it, so that it weighs about as much as the other
        constraints["tokens per answer"] = told.tokens / limit - 1
    return create_trial(
        params={
            name: value
            for s in settings
            for name, value in _as_params(s, told.settings[s.name]).items()
        },
        distributions={name: d for s in settings for name, d in _distributions(s).items()},
        values=[told.difference, told.tokens],
        constraints=constraints,
    )


def _distributions(setting: Setting) -> dict[str, BaseDistribution]:
    """What Optuna draws a setting from; an optional integer has a switch beside it."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if setting.kind == "choice":
        return {setting.name: CategoricalDistribution(setting.values)}
    sizes = setting.low >= _SIZES_FROM
    number = IntDistribution(setting.low, setting.high, log=sizes, step=setting.step)
    if not setting.optional:
        return {setting.name: number}
    return {setting.name + _ON: CategoricalDistribution((False, True)), setting.name: number}


def _as_params(setting: Setting, value: SettingValue) -> dict[str, Any]:
    """A value as Optuna's parameters."""
    if not setting.optional:
        return {setting.name: value}
    # Off is nearest to the far end: a half-life of very many sessions.
    number = setting.high if value is None else value
    return {setting.name + _ON: value is not None, setting.name: number}


def suggest(study: Study, settings: Sequence[Setting]) -> dict[str, SettingValue]:
    """New values of some settings, exactly as a policy takes them."""
    import optuna

    trial = study.ask({name: d for s in settings for name, d in _distributions(s).items()})
    # Never told: what becomes of it is observed later. A trial left open would keep its place.
    study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return as_settings(trial.params, settings)


def as_settings(params: Mapping[str, Any], settings: Sequence[Setting]) -> dict[str, SettingValue]:
    """Optuna's parameters as values of those settings that they are of."""
    return {
        s.name: params[s.name] if params.get(s.name + _ON, True) else None
        for s in settings
        if s.name in params
    }
