"""The strategy ``search-only``: Optuna searches the settings for accuracy alone.

Half of the candidates are Optuna as it is commonly used: one objective, and TPE samples the whole
space at once. The other half keep most of the best policy's settings, as ``joint`` does, so that
neither habit makes it weak: drawn by chance beside a policy that was searched already, the first
kind lost 0.065 in accuracy (14 policies, 6 users) and the second 0.034 (10 policies). The study is
built in memory from what was observed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evolve.optimize.base import Proposal, ProposalContext, Verdict
from evolve.optimize.constraints import Constraints
from evolve.optimize.effects import Told
from evolve.optimize.search import (
    MOST_CHANGED,
    MOST_DRAWS,
    STARTUP_TRIALS,
    as_trial,
    fits,
    gains_of,
    is_told,
    suggest,
)
from evolve.seeding import derive
from policies.settings import Setting

if TYPE_CHECKING:
    from optuna.study import Study


WHOLE_SHARE = 0.5  # of candidates: all settings are drawn anew


class WholeSearchProposer:
    """Searches the settings of the parent's architecture, all of them or a few.

    The objective is the accuracy above the seed's on the minibatch; a difference to a later version
    is added to that version's own. What takes more tokens per answer than the run allows counts as
    infeasible.
    """

    def __init__(self) -> None:
        self._verdicts: list[Verdict] = []

    def propose(self, context: ProposalContext) -> Proposal:
        """Suggest settings not yet tried; an empty proposal where none are found."""
        settings = context.constraints.settings_of(context.parent.architecture)
        if not settings:
            return Proposal("search")
        told = self._told(context, settings)
        own, known = dict(context.parent.settings), [dict(one.settings) for one in told]
        study = _study(settings, told, context.constraints, derive(context.seed, "tpe"))
        draw = random.Random(derive(context.seed, "settings"))
        whole = draw.random() < WHOLE_SHARE
        for _ in range(MOST_DRAWS):
            most = min(MOST_CHANGED, len(settings))
            free = settings if whole else draw.sample(settings, draw.randint(1, most))
            drawn = {**own, **suggest(study, free)}
            if drawn not in known and drawn != own:
                changed = {name: value for name, value in drawn.items() if value != own[name]}
                return Proposal("search", settings=changed)
        return Proposal("search")

    def observe(self, verdict: Verdict) -> None:
        """Remember what a candidate gained."""
        self._verdicts.append(verdict)

    def _told(self, context: ProposalContext, settings: Sequence[Setting]) -> list[Told]:
        """The seed's settings, then those of all scored candidates of the parent's architecture."""
        gains, seed = gains_of(self._verdicts), context.versions[0]
        tokens = context.feedback.numbers.get("tokens_per_answer", 0.0)
        told = [Told(seed.settings, 0.0, tokens)] + [
            Told(v.settings, gains[v.candidate], v.tokens_per_answer or 0.0)
            for v in self._verdicts
            if is_told(v)
        ]
        return [one for one in told if fits(one.settings, settings)]


def _study(
    settings: Sequence[Setting], told: Sequence[Told], limits: Constraints, seed: int
) -> Study:
    """A study in memory of one objective that was told everything."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(n_startup_trials=STARTUP_TRIALS, seed=seed % 2**32),
    )
    for one in told:
        trial = as_trial(settings, one)
        limit = limits.answer_tokens
        study.add_trial(
            optuna.trial.create_trial(
                params=trial.params,
                distributions=trial.distributions,
                value=one.difference,
                constraints={} if limit is None else {"tokens": one.tokens / limit - 1},
            )
        )
    return study
