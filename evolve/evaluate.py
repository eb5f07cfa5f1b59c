"""Scores policies on users: what is known is reused, what is new is paid for, run and journaled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import takewhile
from typing import Any

from evolve.budget import Ledger
from evolve.charges import Charges, Job, Key, Reserved
from evolve.codec import from_data, to_data
from evolve.gym.bounds import Bounds
from evolve.gym.rollout import Span
from evolve.gym.users import User
from evolve.journal import Journal
from evolve.lm.meter import add_usage
from evolve.money import paid
from evolve.offpolicy import Replayed, ReplayTask
from evolve.probing import Probing
from evolve.workers import BoundTask, LiveTask, Result, Workers, WorldSpec
from feedback.diagnosis import diagnose
from feedback.records import Diagnosis, Rollout, Usage
from policies.errors import RunStoppedError, TooManyFailuresError
from policies.policy import Policy

__all__ = ["FEWEST", "Evaluator", "Job", "Scored"]

FEWEST = 5  # rollouts: as so many count fewer ones where the share that failed is judged


@dataclass(frozen=True, slots=True)
class Scored:
    """A rollout and what its diagnosis says.

    Attributes:
        rollout: As it was lived; ``failure`` is set where it failed.
        diagnoses: One per answer; empty where it failed.
    """

    rollout: Rollout
    diagnoses: tuple[Diagnosis, ...]


@dataclass(slots=True)
class Evaluator:
    """The one place where rollouts are paid for.

    Attributes:
        journal: Records every reservation and rollout.
        ledger: Is charged before a rollout starts.
        workers: Run the rollouts.
        spec: The world that they happen in.
        stopping: Whether the run was asked to stop: then no more tasks are started, those that were
            are journaled, and ``score`` and ``bounds`` raise.
        progress: Called after every rollout with the rollouts lived so far, partial ones as their
            share.
        probing: Decides how rollouts are probed that no report is made of.
        usage: What was spent so far, by role.
        bound_usage: What the upper bounds cost, outside the budget.
        rollouts: Number of rollouts so far.
    """

    journal: Journal
    ledger: Ledger
    workers: Workers
    spec: WorldSpec
    stopping: Callable[[], bool]
    progress: Callable[[float], None]
    probing: Probing = field(default_factory=Probing)
    usage: tuple[tuple[str, Usage], ...] = ()
    bound_usage: tuple[tuple[str, Usage], ...] = ()
    rollouts: int = 0
    _failed: int = 0
    _lived: Fraction = Fraction(0)
    _known: dict[Key, Scored] = field(default_factory=dict)
    _charges: Charges = field(init=False)
    _bounds: Bounds = field(default_factory=dict)
    _bounded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Nothing is known or charged yet."""
        self._charges = Charges(self.probing, self.spec.build())

    def cost(self, jobs: Iterable[Job]) -> Fraction:
        """What the jobs that are not yet known would be charged together now, in rollouts."""
        settled = self._charges.settle(self._new(jobs))
        return sum((one.charge for one in settled), start=Fraction(0))

    def most(self, jobs: Iterable[Job]) -> Fraction:
        """What they would be charged at most, scored one part after another, in rollouts."""
        return self._charges.most(self._new(jobs))

    def most_of_new(self, users: Iterable[User], span: Callable[[User], Span]) -> Fraction:
        """What a policy that is yet to be proposed would be charged at most, in rollouts."""
        return self._charges.most_of_new([(user, span(user)) for user in users])

    def score(self, jobs: Sequence[Job]) -> list[Scored]:
        """Score jobs in order; only new ones are charged.

        Raises:
            BudgetExhaustedError: The new ones together cost more than is left; none was run.
            RunStoppedError: The run was asked to stop.
            TooManyFailuresError: Over a fifth of the run's rollouts failed for outside reasons. The
                one that was too many is not journaled: a resumed run lives it again.
        """
        new = self._new(jobs)
        if new:
            self._stop_if_asked()
            reserved = self._reserve(new)
            tasks = [LiveTask(self.spec, r.job.policy, r.job.user, r.span) for r in reserved]
            done = self._done("rollout", [job.name for job in new], tasks, self._data)
            for data, one in zip(done, reserved, strict=False):
                self._take(one, from_data(Rollout, data))
            self._stop_if_asked()
        return [self._known[job.key] for job in jobs]

    def replay(self, tasks: Sequence[ReplayTask]) -> list[Replayed]:
        """Hear policies off-policy, in order; each is charged its share of a rollout.

        Raises:
            BudgetExhaustedError: Together they cost more than is left; none was heard.
            RunStoppedError: The run was asked to stop.
        """
        if not tasks:
            return []
        self._stop_if_asked()
        cost = sum((task.cost for task in tasks), start=Fraction(0))
        self.ledger.reserve(cost)
        names = [task.name for task in tasks]
        self.journal.once("reserve", names[0], lambda: {"jobs": names, "cost": str(cost)})
        heard = []
        done = self._done("replay", names, tasks, lambda rollout: to_data(Replayed.of(rollout)))
        for data, task in zip(done, tasks, strict=False):
            heard.append(from_data(Replayed, data))
            self.usage = add_usage(self.usage, heard[-1].usage)
            self._lived += task.cost
            self.progress(float(self._lived))
        self._stop_if_asked()
        return heard

    def pay_for(
        self,
        kind: str,
        tasks: Mapping[str, Callable[[], Result]],
        pack: Callable[[Result], Any],
    ) -> list[Any]:
        """Run tasks of another kind, each charged as one rollout; their journaled data in order.

        Args:
            kind: Of their events.
            tasks: By name.
            pack: What the journal keeps of a result.

        Raises:
            BudgetExhaustedError: Together they cost more than is left; none was run.
            RunStoppedError: The run was asked to stop.
        """
        self._stop_if_asked()
        names, cost = list(tasks), Fraction(len(tasks))
        self.ledger.reserve(cost)
        self.journal.once("reserve", names[0], lambda: {"jobs": names, "cost": str(cost)})
        done = []
        for data in self._done(kind, names, list(tasks.values()), pack):
            done.append(data)
            self.rollouts += 1
            self._lived += 1
            self.progress(float(self._lived))
        self._stop_if_asked()
        return done

    def known(
        self, policy: Policy, users: Iterable[User], span: Callable[[User], Span]
    ) -> list[Scored]:
        """What is already known of a policy on users, in their order."""
        keys = [Job(policy, user, span(user)).key for user in users]
        return [self._known[key] for key in keys if key in self._known]

    def spend(self, role: str, usage: Usage) -> None:
        """Count what was spent beside rollouts."""
        self.usage = add_usage(self.usage, ((role, usage),))

    def forget(self, policy: Policy) -> None:
        """Drop a rejected policy's transcripts from memory; its diagnoses stay."""
        for key, scored in self._known.items():
            if key[0] == policy.id:
                self._known[key] = Scored(_without_transcript(scored.rollout), scored.diagnoses)

    def bounds(self, users: Iterable[User]) -> Mapping[tuple[str, int, int], float]:
        """Upper bounds of users, asked once each, outside the rollout budget.

        Raises:
            RunStoppedError: The run was asked to stop.
            TooManyFailuresError: They could not be had.
        """
        new = [user for user in users if user.id not in self._bounded]
        names, tasks = [user.id for user in new], [BoundTask(self.spec, user) for user in new]
        for data, user in zip(self._done("bounds", names, tasks, _bounds_data), new, strict=False):
            self._bounded.add(user.id)
            for period, question, bound in data["bounds"]:
                self._bounds[user.id, period, question] = bound
            self.bound_usage = add_usage(self.bound_usage, _usage_of(data["usage"]))
        self._stop_if_asked()
        return self._bounds

    def _reserve(self, new: Sequence[Job]) -> list[Reserved]:
        """Settle how new jobs are lived, and charge them.

        Journaled before the first call, so that a kill in between charges them once. What was
        reserved before is lived as the journal says; one that does not say it knew single probes.
        """
        names = [job.name for job in new]
        event, modes = None, ()
        if self.journal.next_is("reserve", names[0]):
            event = self.journal.once("reserve", names[0], dict)
            modes = event.get("probes", ("single",) * len(new))
        reserved = self._charges.settle(new, modes)
        cost = sum((one.charge for one in reserved), start=Fraction(0))
        self.ledger.reserve(cost)
        if event is None:
            data: dict[str, Any] = {"jobs": names, "cost": str(cost)}
            if any(one.probes != "single" for one in reserved):
                data["probes"] = [one.probes for one in reserved]
            self.journal.once("reserve", names[0], lambda: data)
        self._charges.begin(reserved)
        return reserved

    def _new(self, jobs: Iterable[Job]) -> list[Job]:
        unique = {job.key: job for job in jobs}
        return [job for key, job in unique.items() if key not in self._known]

    def _done(
        self,
        kind: str,
        names: Sequence[str],
        tasks: Sequence[Callable[[], Result]],
        pack: Callable[[Result], Any],
    ) -> Iterator[Any]:
        """Data of tasks in order: what the journal has, then new ones, run side by side.

        Fresh results pass through the journal's form too, so that a resumed run sees the same. Ends
        early when the run is asked to stop.
        """
        past = 0
        while past < len(names) and self.journal.next_is(kind, names[past]):
            yield self.journal.once(kind, names[past], dict)
            past += 1
        if past == len(names):
            return
        todo = takewhile(lambda _: not self.stopping(), tasks[past:])
        results = paid(self.journal, self.workers.run(todo))
        for result, name in zip(results, names[past:], strict=False):
            yield self.journal.once(kind, name, partial(pack, result))

    def _stop_if_asked(self) -> None:
        if self.stopping():
            raise RunStoppedError("stopped at a safe point")

    def _data(self, rollout: Rollout) -> Any:
        """What the journal keeps of a rollout, unless it is one failure too many."""
        failed, scored = self._failed + (rollout.failure_kind == "outside"), self.rollouts + 1
        if failed > self._failed and 5 * failed > max(scored, FEWEST):
            raise TooManyFailuresError(
                "At most a fifth of a run's rollouts may fail for outside reasons, but "
                f"{failed} of {scored} did, the last for this reason: {rollout.failure}; mend the "
                f"cause, then go on with --resume {self.journal.folder}, which lives it again."
            )
        return to_data(rollout)

    def _take(self, one: Reserved, rollout: Rollout) -> None:
        job, failed = one.job, rollout.failure is not None
        self._failed += rollout.failure_kind == "outside"
        diagnoses = () if failed else diagnose(rollout, job.user.truth())
        self._known[job.key] = Scored(rollout, diagnoses)
        self.usage = add_usage(self.usage, rollout.usage)
        self.rollouts += 1
        self._lived += one.charge
        self._charges.end(one, rollout)
        self.progress(float(self._lived))


def _without_transcript(rollout: Rollout) -> Rollout:
    return replace(rollout, messages=(), writes=(), entries=(), answers=())


def _bounds_data(
    found: tuple[Bounds, tuple[tuple[str, Usage], ...]],
) -> dict[str, list[list[object]]]:
    bounds, usage = found
    return {
        "bounds": [[period, question, bound] for (_, period, question), bound in bounds.items()],
        "usage": [[role, u.calls, u.prompt_tokens, u.completion_tokens] for role, u in usage],
    }


def _usage_of(data: Sequence[Sequence[object]]) -> tuple[tuple[str, Usage], ...]:
    return tuple((str(role), Usage(*(int(str(n)) for n in numbers))) for role, *numbers in data)
