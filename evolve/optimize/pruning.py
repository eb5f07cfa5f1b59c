"""Stops candidates that are behind on the validation users so far, by Optuna's own rule."""

from __future__ import annotations

import warnings
from collections.abc import Mapping


def is_behind(candidate: Mapping[str, float], best: Mapping[str, float]) -> bool:
    """Whether Optuna's ``WilcoxonPruner``, with its own defaults, stops a candidate.

    Args:
        candidate: Cluster to its accuracy in 0..1, so far.
        best: The same of the best policy, on those clusters at least.
    """
    import optuna

    if not candidate:
        return False
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    steps = {cluster: step for step, cluster in enumerate(best)}
    study = optuna.create_study(direction="maximize")
    study.add_trial(
        optuna.trial.create_trial(
            value=sum(best.values()) / len(best),
            intermediate_values={steps[cluster]: best[cluster] for cluster in best},
        )
    )
    running = optuna.trial.create_trial(
        state=optuna.trial.TrialState.RUNNING,
        intermediate_values={steps[c]: candidate[c] for c in candidate if c in steps},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        pruner = optuna.pruners.WilcoxonPruner()
    return pruner.prune(study, running)
