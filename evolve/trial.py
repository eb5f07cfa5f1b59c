"""One candidate's trial: the minibatch of train users, then the gate on held-out ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evolve.evaluate import Evaluator, Job, Scored
from evolve.field import Field, Part
from evolve.gym.users import User
from evolve.optimize.base import Verdict
from evolve.optimize.constraints import NO_LIMITS, Constraints
from evolve.optimize.gate import RUN_LEVEL, Gate, could_pass, minibatch_passes, next_level
from evolve.plan import Plan
from feedback.records import Diagnosis
from feedback.scores import tokens_per_answer
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and where the gate was reached how both sides did there.

    Attributes:
        verdict: What became of the candidate.
        candidate: Gate cluster to the candidate's accuracy.
        incumbent: The same for the policy that it was compared with.
    """

    verdict: Verdict
    candidate: Mapping[str, float]
    incumbent: Mapping[str, float]

    @property
    def difference(self) -> float | None:
        """Mean paired difference in accuracy at the gate; None where it was not reached."""
        both = [cluster for cluster in self.candidate if cluster in self.incumbent]
        gains = [self.candidate[cluster] - self.incumbent[cluster] for cluster in both]
        return sum(gains) / len(gains) if gains else None


class Trials:
    """Holds the trials of one run, and shares its level out among those that reach the gate.

    Args:
        evaluator: Scores and pays.
        field: Who is scored where.
        plan: How many candidates are expected at the gate.
        constraints: What they may take.

    Attributes:
        left: Of the run's level.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        field: Field,
        plan: Plan,
        constraints: Constraints = NO_LIMITS,
    ) -> None:
        self._evaluator = evaluator
        self._field = field
        self._plan = plan
        self._constraints = constraints
        self._gated = 0
        self._spent = 0.0  # rollouts, when the last candidate left the gate
        self.left = RUN_LEVEL

    @property
    def over(self) -> str | None:
        """Why no further candidate can be accepted, or None."""
        field, level = self._field, self._next_level()
        answers, every = field.answers_per_cluster, field.look_every
        if level > 0 and could_pass(field.gate_clusters, level, answers, every):
            return None
        return (
            f"what {self._gated} candidate{'s' * (self._gated != 1)} at the gate left of the run's "
            "level is too little to pass"
        )

    def _next_level(self) -> float:
        """The level of the next candidate at the gate, by the pace at which they came so far."""
        plan = self._plan
        planned = float(plan.budget - plan.set_aside) / plan.candidates
        pace = (self._spent + planned) / (self._gated + 1)
        # Half of a candidate's cost is its own time at the gate, which is still to come.
        return next_level(self.left, float(self._evaluator.ledger.left) / pace + 0.5)

    def judge(
        self,
        policy: Policy,
        incumbent: Policy,
        block: Sequence[User],
        *,
        stopped: bool = False,
        over: float | None = None,
    ) -> Judged:
        """Judge a candidate that was scored on the minibatch, as the incumbent was.

        Args:
            policy: The candidate.
            incumbent: What it must be better than: its parent, or a version accepted since.
            block: The users of the minibatch that it was scored on.
            stopped: Whether these are not all, since there was no chance left.
            over: Tokens per answer of the incumbent, if they are over the limit: then what keeps
                 it is accepted, and what is nearer to it and gains on the minibatch.
        """
        scored = self.known(policy, block)
        verdict = Verdict(
            candidate=policy.id,
            incumbent=incumbent.id,
            settings=policy.settings,
            operator=policy.lineage.operator,
            accepted=False,
            stage="failed",
            reason="",
        )
        failure = self._own_failure(policy, block)
        if failure is not None:
            return Judged(replace(verdict, reason=failure), {}, {})
        differences = self._differences(policy, incumbent, block, "train")
        lived = [s.rollout for s in scored if s.rollout.failure is None]
        mean = sum(differences) / len(differences) if differences else 0.0
        units = f"{len(differences)} minibatch cluster{'s' * (len(differences) != 1)}"
        verdict = replace(
            verdict,
            stage="minibatch",
            minibatch_difference=mean if differences else None,
            tokens_per_answer=tokens_per_answer(lived) if lived else None,
            reason=f"mean paired difference {mean:+.4f} on {units}",
        )
        limited = self._limited(verdict, over, gains=minibatch_passes(differences))
        if limited is not None:
            return Judged(limited, {}, {})
        if stopped:
            reason = f"{verdict.reason}, which left the whole minibatch too little chance"
            return Judged(replace(verdict, reason=reason), {}, {})
        if not minibatch_passes(differences):
            return Judged(verdict, {}, {})
        if self.over is not None:
            reason = f"{verdict.reason}, but {self.over}"
            return Judged(replace(verdict, stage="level", reason=reason), {}, {})
        return self._gate(policy, incumbent, verdict)

    def _limited(self, verdict: Verdict, over: float | None, *, gains: bool) -> Verdict | None:
        """The verdict where a limit decides, else None."""
        tokens = verdict.tokens_per_answer
        why = self._constraints.too_dear(tokens)
        if tokens is None or (why is None and over is None):
            return None
        verdict = replace(verdict, stage="tokens")
        if why is None:
            within = f"{tokens:.0f} tokens per answer keep the limit, and its incumbent's do not"
            return replace(verdict, accepted=True, reason=within)
        if over is not None and gains and self._constraints.nearer(tokens, over):
            nearer = f"{verdict.reason}, and {why}, but nearer to it than its incumbent's"
            return replace(verdict, accepted=True, reason=nearer)
        return replace(verdict, reason=why)

    def _gate(self, policy: Policy, incumbent: Policy, verdict: Verdict) -> Judged:
        """The sequential paired test on gate users."""
        level = self._next_level()
        self.left -= level
        self._gated += 1
        gate = Gate(
            level,
            self._field.gate_clusters,
            self._field.answers_per_cluster,
            self._field.look_every,
        )
        users: tuple[User, ...] = ()
        while True:
            users, exhausted = self._next_users(users, gate, policy, incumbent)
            failure = self._own_failure(policy, users)
            if failure is not None:
                return Judged(replace(verdict, stage="failed", reason=failure), {}, {})
            differences = self._differences(policy, incumbent, users, "gate")
            decision = gate.decide(differences, exhausted)
            if decision.state != "continue":
                break
        self._spent = float(self._evaluator.ledger.spent)
        accepted = decision.state == "accept"
        reason = decision.reason
        if exhausted and len(users) < len(self._field.gate):
            reason += (
                f"; the budget ended the gate after {len(users)} of {len(self._field.gate)} users"
            )
        verdict = replace(verdict, stage="gate", accepted=accepted, reason=reason)
        ours, theirs = (self._accuracies(p, users, "gate") for p in (policy, incumbent))
        return Judged(verdict, ours, theirs)

    def _next_users(
        self, users: tuple[User, ...], gate: Gate, policy: Policy, incumbent: Policy
    ) -> tuple[tuple[User, ...], bool]:
        """Gate users up to the next look, scored for both sides, and whether no more can come."""
        everyone = self._field.gate
        if self._field.holdout == "periods":
            return everyone, True  # the minibatch's rollouts reach over the gate's periods
        judged = len(self._differences(policy, incumbent, users, "gate"))
        more = everyone[: len(users) + max(1, gate.missing(judged))]
        jobs = [
            Job(p, user, self._field.span(user))
            for p in (policy, incumbent)
            for user in more[len(users) :]
        ]
        if self._evaluator.cost(jobs) > self._evaluator.ledger.left:
            return users, True
        self._evaluator.score(jobs)
        return more, len(more) == len(everyone)

    def _own_failure(self, policy: Policy, users: Sequence[User]) -> str | None:
        """Why the policy itself failed for one of the users, or None."""
        kept = (s.rollout for s in self.known(policy, users) if s.rollout.failure_kind == "policy")
        return next((rollout.failure for rollout in kept), None)

    def known(self, policy: Policy, users: Sequence[User]) -> list[Scored]:
        """What is known of a policy on users, in their order."""
        return self._evaluator.known(policy, users, self._field.span)

    def _accuracies(self, policy: Policy, users: Sequence[User], part: Part) -> dict[str, float]:
        return self._field.accuracies(diagnoses_of(self.known(policy, users)), part)

    def _differences(
        self, policy: Policy, incumbent: Policy, users: Sequence[User], part: Part
    ) -> list[float]:
        """Candidate minus incumbent per cluster, in the users' order, failed pairs left out."""
        ours, theirs = (self.known(p, users) for p in (policy, incumbent))
        return differences_of(self._field, ours, theirs, part)


def differences_of(
    field: Field, ours: Sequence[Scored], theirs: Sequence[Scored], part: Part
) -> list[float]:
    """Accuracy of one policy less another's per cluster, in order, failed pairs left out."""
    mine, other = (field.accuracies(diagnoses_of(scored), part) for scored in (ours, theirs))
    return [mine[cluster] - other[cluster] for cluster in mine if cluster in other]


def diagnoses_of(scored: Sequence[Scored]) -> list[Diagnosis]:
    """All diagnoses of scored rollouts, in order."""
    return [diagnosis for one in scored for diagnosis in one.diagnoses]
