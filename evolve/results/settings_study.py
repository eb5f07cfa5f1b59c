"""What a run says of settings: their effect on each stage, how much they matter, and the front.

A candidate is compared with the version that it was judged against, on answers that both gave: the
level of either alone depends on its users, and on the texts of its time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import cache
from math import fsum
from typing import TYPE_CHECKING

from evolve.optimize.archive import Archive, PassedOver, Version
from evolve.optimize.base import ProposalContext, Tried
from evolve.optimize.constraints import Constraints
from evolve.optimize.credit import UNSCORED
from evolve.optimize.pareto import front, points
from evolve.optimize.search import as_settings, study_of
from evolve.results.curves import FAILURES, shared_answers, version_names
from evolve.results.run_record import CandidateRecord, RunRecord, diagnoses
from evolve.seeding import derive
from evolve.stats import paired_differences
from feedback.digest import Feedback
from feedback.records import Diagnosis
from feedback.scores import score, tokens_per_answer
from policies.policy import Policy
from policies.settings import SETTINGS

if TYPE_CHECKING:
    import pandas as pd
    from optuna.study import Study

RATES = ("accuracy", *FAILURES)
"""What a setting may have an effect on: shares of answers in 0..1."""
FEWEST_TRIALS = 4  # of a study: of fewer, importance would be chance


def changed_settings(record: RunRecord) -> tuple[str, ...]:
    """Settings that some scored candidate changed, those most often changed first."""
    pairs = _scored(record)
    counts = {
        setting.name: sum(_differs(setting.name, *pair) for pair in pairs) for setting in SETTINGS
    }
    return tuple(sorted((name for name in counts if counts[name]), key=lambda n: -counts[n]))


def effects(record: RunRecord, settings: tuple[str, ...]) -> pd.DataFrame:
    """What candidates that changed a setting did at each stage, paired.

    Args:
        record: The run.
        settings: Names of settings.

    Returns:
        A row per setting, scored candidate that changed it, and measure, with columns ``setting``,
        ``candidate``, ``measure`` (of ``RATES``), ``value_before`` and ``value_after``,
        ``rate_before`` and ``rate_after`` (shares of answers), ``change``, ``answers`` (that both
        gave), ``alone`` (whether nothing else was changed) and ``accepted``. Empty where nothing
        can be diagnosed.
    """
    import pandas as pd

    columns = ["setting", "candidate", "measure", "value_before", "value_after"]
    columns += ["rate_before", "rate_after", "change", "answers", "alone", "accepted"]
    known: dict[str, tuple[Diagnosis, ...]] = {}

    def said(policy: Policy) -> tuple[Diagnosis, ...]:
        if policy.id not in known:
            known[policy.id] = tuple(diagnoses(record, policy.id, traced=False))
        return known[policy.id]

    rows: list[tuple[object, ...]] = []
    for candidate, incumbent in _scored(record) if record.users is not None else ():
        policy = candidate.policy
        named = [name for name in settings if _differs(name, candidate, incumbent)]
        if not named:
            continue
        shared = shared_answers({"before": said(incumbent), "after": said(policy)})
        if not shared["before"]:
            continue
        before, after = score(shared["before"]), score(shared["after"])
        alone = policy.texts == incumbent.texts and _changes(candidate, incumbent) == 1
        for name in named:
            values = incumbent.settings[name], policy.settings[name]
            for rate in RATES:
                was, is_ = getattr(before, rate), getattr(after, rate)
                if was is not None and is_ is not None:
                    found = (*values, was, is_, is_ - was, before.n, alone)
                    rows.append((name, candidate.name, rate, *found, candidate.verdict.accepted))
    # Values of settings stay what they are: numbers beside None would become floats.
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    numbers = dict.fromkeys(("rate_before", "rate_after", "change"), float)
    return frame.astype({**numbers, "answers": int, "alone": bool, "accepted": bool})


def study(record: RunRecord) -> Study:
    """The study of settings as the search of a run would see it now, rebuilt from its verdicts.

    Its trials are the best version and every candidate that was scored or heard with other settings
    than what it was compared with. Their values are what these settings did to accuracy by
    themselves, as far as that can be told apart from new texts, and the tokens per answer.
    """
    policies = record.policies
    tokens = _tokens_of_seed(record) or 0.0
    said = Feedback(record.seed.id, {"tokens_per_answer": tokens}, (), {}, {}, "")
    tried = tuple(
        Tried(one.policy, policies[parent], one.verdict, said, {})
        for one in record.candidates
        for parent in one.policy.lineage.parents[:1]
        if _is_tried(one) and parent in policies
    )
    context = ProposalContext(
        parent=record.best,
        versions=record.versions,
        feedback=said,
        last_verdict=None,
        seed=derive(int(record.options["seed"]), "results"),
        constraints=_limits(record),
        tried=tried,
    )
    return study_of(context)


def trials(found: Study) -> pd.DataFrame:
    """The trials of a study.

    Returns:
        Columns ``difference`` (in accuracy to the best version), ``tokens`` (per answer) and one
        per setting, with its value as in a policy; NaN where it does not apply. The greatest
        difference first.
    """
    import pandas as pd

    rows = [
        {"difference": trial.values[0], "tokens": trial.values[1]}
        | as_settings(trial.params, SETTINGS)
        for trial in found.get_trials(deepcopy=False)
    ]
    names = [setting.name for setting in SETTINGS if any(setting.name in row for row in rows)]
    frame = pd.DataFrame(rows, columns=["difference", "tokens", *names], dtype=object)
    frame = frame.astype({"difference": float, "tokens": float})
    return frame.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def importance(found: Study) -> pd.DataFrame:
    """How much of the spread in accuracy each setting accounts for, by functional ANOVA.

    Args:
        found: Of ``study``.

    Returns:
        Columns ``setting``, ``importance`` (shares that add up to 1), ``trials`` and ``values``
        (how many different ones were tried), the most important first. Only settings that all
        trials have: where architectures changed, those that they share. Empty with fewer than
        ``FEWEST_TRIALS`` trials, or where all came to the same.
    """
    import pandas as pd
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances

    columns = ["setting", "importance", "trials", "values"]
    tried = found.get_trials(deepcopy=False)
    if len(tried) < FEWEST_TRIALS or len({trial.values[0] for trial in tried}) < 2:
        return pd.DataFrame(columns=columns)
    shares = get_param_importances(
        found,
        evaluator=FanovaImportanceEvaluator(seed=derive("importance") % 2**32),
        target=lambda trial: float(trial.values[0]),
    )
    summed: dict[str, float] = {}
    for name, share in shares.items():
        setting = name.partition(".")[0]  # the switch of an optional number belongs to it
        summed[setting] = summed.get(setting, 0.0) + share
    rows = [
        (name, share, len(tried), len({trial.params[name] for trial in tried}))
        for name, share in sorted(summed.items(), key=lambda item: (-item[1], item[0]))
    ]
    return pd.DataFrame(rows, columns=columns)


def trade_off(record: RunRecord) -> pd.DataFrame:
    """Accuracy at the gate and tokens per answer of what came that far, and who is on the front.

    Accuracy is the run's own estimate: of versions shrunk towards their mean, and of a candidate
    that was not accepted no more than that of the version that it was compared with.

    Returns:
        Columns ``name``, ``policy`` (its id), ``accuracy``, ``tokens``, ``clusters`` (at the gate),
        ``accepted``, ``best`` and ``front``, the cheapest first; empty where no version was judged.
    """
    import pandas as pd

    columns = ["name", "policy", "accuracy", "tokens", "clusters", "accepted", "best", "front"]
    found = points(_archive(record)) if record.field is not None else ()
    names = {one.policy.id: one.name for one in reversed(record.candidates)}
    names |= version_names(record)
    ahead = {point.policy.id for point in front(found)}
    rows = [
        (
            names.get(point.policy.id, point.policy.short_id),
            point.policy.id,
            point.accuracy,
            point.tokens,
            point.clusters,
            point.accepted,
            point.policy.id == record.best.id,
            point.policy.id in ahead,
        )
        for point in found
    ]
    return pd.DataFrame(rows, columns=columns).sort_values("tokens", ignore_index=True)


def _scored(record: RunRecord) -> list[tuple[CandidateRecord, Policy]]:
    """Candidates that were lived with, each with what it was compared with."""
    policies = record.policies
    return [
        (one, policies[one.verdict.incumbent])
        for one in record.candidates
        if one.verdict.stage not in UNSCORED and one.verdict.incumbent in policies
    ]


def _is_tried(one: CandidateRecord) -> bool:
    """Whether a search learns of it."""
    return one.verdict.stage not in UNSCORED or one.verdict.heard_difference is not None


def _differs(name: str, candidate: CandidateRecord, incumbent: Policy) -> bool:
    ours, theirs = candidate.policy.settings, incumbent.settings
    return name in ours and name in theirs and ours[name] != theirs[name]


def _changes(candidate: CandidateRecord, incumbent: Policy) -> int:
    return sum(_differs(setting.name, candidate, incumbent) for setting in SETTINGS)


def _limits(record: RunRecord) -> Constraints:
    options = record.options
    return Constraints(options["max_memory_tokens"], options["max_answer_tokens"])


def _archive(record: RunRecord) -> Archive:
    """Versions and what was passed over at the gate, as the run had them at its end."""
    assert record.field is not None
    field, judged = record.field, _judged_users(record)

    @cache  # many candidates were compared with one version
    def on_gate(policy: str) -> list[Diagnosis]:
        return diagnoses(record, policy, "gate", traced=False)

    def gate(policy: str, users: Collection[str]) -> dict[str, float]:
        return field.accuracies([d for d in on_gate(policy) if d.user in users], "gate")

    seed = Version(record.seed, {}, _tokens_of_seed(record))
    archive = Archive((seed,), record.best.id, _limits(record))
    for one in record.candidates:
        verdict, policy = one.verdict, one.policy
        users = judged.get(one.name, ())
        if verdict.stage in UNSCORED or not users or policy.id == verdict.incumbent:
            continue
        ours, theirs = (gate(id_, users) for id_ in (policy.id, verdict.incumbent))
        tokens = verdict.tokens_per_answer
        ids = {version.policy.id for version in archive.versions}
        if verdict.accepted and policy.id not in ids:
            archive = archive.judged(verdict.incumbent, theirs)
            archive = archive.accept(policy, ours, tokens)
        elif verdict.stage == "gate" and tokens is not None:
            both = paired_differences(ours, theirs).values()
            if both:
                mean = fsum(both) / len(both)
                seen = PassedOver(policy, verdict.incumbent, mean, len(ours), tokens)
                archive = archive.pass_over(seen)
    return archive


def _judged_users(record: RunRecord) -> dict[str, frozenset[str]]:
    """Candidate to the gate users that it had been lived with when its verdict was given."""
    assert record.field is not None
    at_gate = {user.id for user in record.field.gate}
    lived: dict[str, set[str]] = defaultdict(set)
    judged = {}
    for kind, key, data in record.events:
        if kind == "rollout" and data["user"] in at_gate and data.get("failure") is None:
            lived[data["policy"]].add(data["user"])
        elif kind == "verdict":
            judged[key] = frozenset(lived[data["candidate"]])
    return judged


def _tokens_of_seed(record: RunRecord) -> float | None:
    """On the train users of its first minibatch, or else on gate users, as runs measure it."""
    if record.field is None:
        return None
    for users in (record.field.minibatch(0), record.field.gate):
        places = [(record.seed.id, user.id) for user in users]
        lived = [record.rollouts[place] for place in places if place in record.rollouts]
        whole = [rollout for rollout in lived if rollout.failure is None and rollout.answers]
        if whole:
            return tokens_per_answer(whole)
    return None
