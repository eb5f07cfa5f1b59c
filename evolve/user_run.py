"""A run of scope ``user``: each user's own policy, learned as that user lives.

No two users share anything that was learned, and there is no split: what a period is scored with
was learned on the periods before it. The questions are the same in every period, so a list may come
to fit them: that is how the protocol was published, and it is said.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from evolve.budget import Ledger
from evolve.codec import from_data, to_data
from evolve.connecting import find_site
from evolve.evaluate import Evaluator, Job
from evolve.folder import RunFolder, logging_to
from evolve.gains import Bounds, memory_gain, shown_gain
from evolve.gym.users import User
from evolve.inputs import STAND_IN, called
from evolve.journal import Journal
from evolve.learning import Learned, LearnTask, ended_with
from evolve.means import Means
from evolve.money import Paid, Terms
from evolve.opening import Opened, Opening
from evolve.policy_run import Watch, run_header
from evolve.prepare import Prepared
from evolve.roles import OFFLINE
from evolve.seeding import derive
from evolve.stats import Interval
from evolve.tables import Table, number
from feedback.diagnosis import diagnose
from feedback.records import Diagnosis
from feedback.scores import Scores, score, scores_by_period
from policies.errors import AllFailedError, BudgetTooSmallError, ConfigError

_RATES = ("memory", "accuracy", "write", "read", "utilization", "format")


@dataclass(frozen=True, slots=True)
class Told:
    """What a run of scope ``user`` found; users of whom a life failed are left out of all of it.

    Attributes:
        fixed: Answers of the seed policy.
        learned: Those of the policies that were learned.
        bounds: Upper bound of each answer.
        gain: Memory score learned less fixed, with its interval over users; None where nothing was
            learned or it is undefined.
    """

    fixed: tuple[Diagnosis, ...]
    learned: tuple[Diagnosis, ...]
    bounds: Bounds
    gain: Interval | None

    def rows(self) -> dict[str, tuple[Scores, Scores]]:
        """Fixed and learned by period, over the later half of periods, and over all."""
        sides = (self.fixed, self.learned)
        by_period = [scores_by_period(side, self.bounds) for side in sides]
        rows = {
            str(period): (by_period[0][period], by_period[1][period]) for period in by_period[1]
        }
        later = [[d for d in side if 2 * d.period >= len(rows)] for side in sides]
        rows["later half"] = _pair(later, self.bounds)
        rows["all"] = _pair(sides, self.bounds)
        return rows

    @property
    def line(self) -> str:
        """The run's last word."""
        fixed, learned = (score(side, self.bounds).memory for side in (self.fixed, self.learned))
        users = len({diagnosis.user for diagnosis in self.learned})
        people = f"n = {len(self.learned)} answers of {users} user{'s' * (users != 1)}"
        if self.fixed == self.learned:
            return (
                f"every user's own policy: all stay the seed, memory score {_two(fixed)}, {people}"
            )
        return (
            f"every user's own policy: memory score fixed {_two(fixed)} → learned {_two(learned)}, "
            f"{shown_gain(self.gain)}, {people}"
        )


def affordable(prepared: Prepared) -> tuple[User, ...]:
    """The users that the budget serves, in seeded order.

    Raises:
        BudgetTooSmallError: Not one.
    """
    options = prepared.options
    users = sorted(prepared.users, key=lambda user: user.id)
    random.Random(derive(options.seed, "order", "scope")).shuffle(users)
    each, budget = lives_each(options.feedback), int(options.units["rollouts"])
    if budget < each:
        raise BudgetTooSmallError(
            f"Scope user takes {each} rollouts for each user, one with what is learned and one "
            f"without, but the budget is {budget}; give --budget {each} or more."
        )
    return tuple(users[: budget // each])


def lives_each(level: str) -> int:
    """Rollouts that a user takes."""
    return 1 if level == "none" else 2


def user_run(
    prepared: Prepared, folder: Path, means: Means, watch: Watch, *, resume: bool = False
) -> Told:
    """Run or resume a run and write its files.

    Args:
        prepared: What it reads.
        folder: Its folder.
        means: What it works with.
        watch: Who watches.
        resume: Whether the folder holds the run already.

    Raises:
        UserError: An option, a file, the budget or the folder is not usable.
        RunStoppedError: The watcher asked for it.
    """
    began = time.monotonic()
    if means.storage is not None:
        raise ConfigError(
            "--storage mirrors what a strategy searches, and --scope user searches nothing, but it "
            "is given; leave it out."
        )
    users = affordable(prepared)
    header = run_header(prepared, folder, resume=resume)
    with ExitStack() as stack:
        site = find_site(stack, means)  # before there is a folder
        journal = stack.enter_context(Journal(folder, header, resume=resume))
        stack.enter_context(logging_to(folder))
        run_folder = RunFolder(folder, journal.header["run"])
        run_folder.sweep()
        run_folder.write_seed(prepared.seed)
        _introduce(prepared, users, journal, watch)
        budget = int(prepared.options.units["rollouts"])
        terms = Terms(prepared.options.units, budget, 0.0, {})
        opening = Opening(prepared, site, journal, watch, stack)
        opened = opening.open(terms, Ledger(Fraction(budget)))
        told, lists = _live(prepared, users, opened.evaluator)
        for user, texts in lists.items():
            own = ended_with(prepared.seed, texts, run_folder.name, prepared.environment)
            run_folder.write_own(user, own)
        run_folder.write_summary(_whole_summary(told, prepared, opened))
        watch.display.tables([_table(told, prepared.options.feedback)])
        watch.display.say(told.line)
        watch.display.say(f"{folder}: summary.json, policies; {time.monotonic() - began:.0f} s")
    if means.mlflow is not None:
        from evolve.mlflow_log import log_run

        watch.display.say(log_run(folder, means.mlflow))
    return told


def _whole_summary(told: Told, prepared: Prepared, opened: Opened) -> dict[str, Any]:
    """The end in numbers, with what was paid where anything is."""
    summary = _summary(told, prepared, opened.evaluator)
    if opened.connection is not None:
        paid = Paid.of(opened.connection).summary()
        summary |= {"models": asdict(prepared.options.models), "paid": paid}
    return summary


def _introduce(prepared: Prepared, users: Sequence[User], journal: Journal, watch: Watch) -> None:
    options, say = prepared.options, watch.display.say
    count = len(users)
    say(
        f"run {journal.folder}: {count} user{'s' * (count != 1)}, each with a policy learned "
        f"from period to period, feedback {options.feedback}; every period is scored with what was "
        "learned before it, on questions that are the same in all periods"
    )
    for note in prepared.notes:
        say(note)
    if options.models.real:
        say(called(options.models))
    if OFFLINE in (options.models.model, options.models.user_model):
        say(STAND_IN)


def _live(
    prepared: Prepared, users: Sequence[User], evaluator: Evaluator
) -> tuple[Told, dict[str, tuple[str, ...]]]:
    """Live with and without learning; what was found, and each user's lists."""
    options, seed = prepared.options, prepared.seed
    fixed = [scored.rollout for scored in evaluator.score([Job(seed, user) for user in users])]
    learned = [Learned(rollout, (seed.texts["memory_types"],)) for rollout in fixed]
    if options.feedback != "none":
        tasks = {
            f"{seed.id}:{user.id}:{options.feedback}": LearnTask(
                prepared.spec, prepared.cast.rewrite, seed, user, options.feedback
            )
            for user in users
        }
        learned = [from_data(Learned, data) for data in evaluator.pay_for("life", tasks, to_data)]
        for life in learned:
            for role, usage in life.rollout.usage:
                evaluator.spend(role, usage)
    failed = {r.user: r.failure for r in (*fixed, *(life.rollout for life in learned)) if r.failure}
    whole = [user for user in users if user.id not in failed]
    if not whole:
        raise AllFailedError(
            "Scores need a user whose lives did not fail, but all did, the first for this reason: "
            f"{next(iter(failed.values()))}; mend it and begin again."
        )
    bounds = evaluator.bounds(whole)
    truths = {user.id: user.truth() for user in whole}
    sides = [
        tuple(d for r in side if r.user in truths for d in diagnose(r, truths[r.user]))
        for side in (fixed, [life.rollout for life in learned])
    ]
    gain = None
    if sides[0] != sides[1]:
        gain = memory_gain(sides[0], sides[1], bounds, lambda d: d.user, options.seed)
    lists = {life.rollout.user: life.lists for life in learned}
    return Told(sides[0], sides[1], dict(bounds), gain), lists


def _summary(told: Told, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
    """The run in numbers; no times, so equal runs give equal bytes."""
    gain = told.gain
    return {
        "schema": 1,
        "scope": "user",
        "feedback": prepared.options.feedback,
        "seed_policy": prepared.seed.id,
        "users": len({diagnosis.user for diagnosis in told.learned}),
        "periods": {
            name: {"fixed": _rates(fixed), "learned": _rates(learned)}
            for name, (fixed, learned) in told.rows().items()
        },
        "gain": None
        if gain is None
        else {
            "memory": gain.mean,
            "low": gain.low if isfinite(gain.low) else None,
            "high": gain.high if isfinite(gain.high) else None,
            "clusters": gain.n,
        },
        "budget": int(prepared.options.units["rollouts"]),
        "spent": float(evaluator.ledger.spent),
        "usage": {role: asdict(usage) for role, usage in evaluator.usage},
        "bound_usage": {role: asdict(usage) for role, usage in evaluator.bound_usage},
    }


def _rates(scores: Scores) -> dict[str, Any]:
    return {"n": scores.n} | {name: getattr(scores, name) for name in _RATES}


def _table(told: Told, level: str) -> Table:
    rows = tuple(
        (
            name,
            str(learned.n),
            number(fixed.memory, 3),
            *(number(getattr(learned, rate), 3) for rate in _RATES),
        )
        for name, (fixed, learned) in told.rows().items()
    )
    title = f"Periods, each with what was learned before it (feedback {level})"
    return Table(title, ("period", "answers", "memory of the seed", *_RATES), rows)


def _pair(sides: Sequence[Sequence[Diagnosis]], bounds: Bounds) -> tuple[Scores, Scores]:
    fixed, learned = sides
    return score(fixed, bounds), score(learned, bounds)


def _two(value: float | None) -> str:
    return number(value, 2, "undefined")
