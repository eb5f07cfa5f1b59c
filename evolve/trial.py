"""One candidate's trial: the minibatch of train users, then the gate on held-out ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evolve.evaluate import Evaluator, Job, Scored
from evolve.field import MINIBATCH, Field, Part
from evolve.gym.users import User
from evolve.optimize.base import Verdict, unscored
from evolve.optimize.constraints import NO_LIMITS, Constraints
from evolve.optimize.gate import (
    FEWEST_CLUSTERS,
    FUTILITY,
    RUN_LEVEL,
    Gate,
    could_pass,
    minibatch_passes,
    next_level,
)
from evolve.plan import Plan
from feedback.records import Diagnosis
from feedback.scores import tokens_per_answer
from policies.policy import Policy

FLATTERED = 0.5  # of a gain on the minibatch: what others may be expected to gain


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
        gains = self._gains
        return sum(gains) / len(gains) if gains else None

    @property
    def expected(self) -> float | None:
        """What may be expected of it on other users, if that is something; else None.

        The mean over minibatch and gate; half of it where only the minibatch speaks, whose users
        it may have been made for.
        """
        verdict, gains = self.verdict, self._gains
        if verdict.stage == "chance":
            return FLATTERED * (verdict.minibatch_difference or 0.0)
        if verdict.accepted or verdict.stage != "gate" or not minibatch_passes(gains):
            return None
        learned = MINIBATCH * (verdict.minibatch_difference or 0.0)
        return (learned + sum(gains)) / (MINIBATCH + len(gains))

    @property
    def _gains(self) -> list[float]:
        both = [cluster for cluster in self.candidate if cluster in self.incumbent]
        return [self.candidate[cluster] - self.incumbent[cluster] for cluster in both]


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
        draft: Policy | None = None,
    ) -> Judged:
        """Judge a candidate that was scored on the minibatch, as the incumbent was.

        Args:
            policy: The candidate.
            incumbent: What it must be better than: its parent, or a version accepted since.
            block: The users of the minibatch that it was scored on.
            stopped: Whether these are not all, since there was no chance left.
            over: Tokens per answer of the incumbent, if they are over the limit: then what keeps
                 it is accepted, and what is nearer to it and gains on the minibatch.
            draft: What it was made from, if that is no version: on the minibatch it must be better
                than this, too.
        """
        differences = self._differences(policy, incumbent, block, "train")
        verdict = self._on_minibatch(policy, incumbent, block, differences)
        if verdict.stage == "failed":
            return Judged(verdict, {}, {})
        limited = self._limited(verdict, over, gains=minibatch_passes(differences))
        if limited is not None:
            return Judged(limited, {}, {})
        short = self._falls_short(verdict, differences, stopped=stopped)
        if draft is not None and (short is None or short.stage == "chance"):
            short = self._behind(verdict, policy, draft, block) or short
        if short is not None:
            return Judged(short, {}, {})
        return self._gate(policy, incumbent, verdict)

    def _on_minibatch(
        self,
        policy: Policy,
        incumbent: Policy,
        block: Sequence[User],
        differences: Sequence[float],
    ) -> Verdict:
        """What the minibatch says, before anything is decided by it."""
        failure = self._own_failure(policy, block)
        if failure is not None:
            return unscored(policy, incumbent, "failed", failure)
        lived = [s.rollout for s in self.known(policy, block) if s.rollout.failure is None]
        mean = sum(differences) / len(differences) if differences else 0.0
        units = f"{len(differences)} minibatch cluster{'s' * (len(differences) != 1)}"
        seen = f"mean paired difference {mean:+.4f} on {units}"
        return replace(
            unscored(policy, incumbent, "minibatch", seen),
            minibatch_difference=mean if differences else None,
            tokens_per_answer=tokens_per_answer(lived) if lived else None,
        )

    def _falls_short(
        self, verdict: Verdict, differences: Sequence[float], *, stopped: bool
    ) -> Verdict | None:
        """The verdict where the minibatch decides, else None."""
        if stopped:
            why = f"{verdict.reason}, which left the whole minibatch too little chance"
            return replace(verdict, reason=why)
        if not minibatch_passes(differences):
            return verdict
        if self.over is not None:
            return replace(verdict, stage="level", reason=f"{verdict.reason}, but {self.over}")
        if self._hopeless(differences):
            why = f"{verdict.reason}, too little to have a chance at the gate"
            return replace(verdict, stage="chance", reason=why)
        return None

    def _behind(
        self, verdict: Verdict, policy: Policy, draft: Policy, block: Sequence[User]
    ) -> Verdict | None:
        """The verdict on what is no better than the draft that it was made from, else None."""
        gain = self.difference(policy, draft, block) or 0.0
        if minibatch_passes([gain]):
            return None
        why = f"{verdict.reason}, but {gain:+.4f} to the draft {draft.short_id}"
        return replace(verdict, stage="minibatch", reason=why)

    def difference(self, policy: Policy, other: Policy, block: Sequence[User]) -> float | None:
        """Mean paired difference in accuracy on users of the minibatch; None without a pair."""
        found = self._differences(policy, other, block, "train")
        return sum(found) / len(found) if found else None

    def _hopeless(self, differences: Sequence[float]) -> bool:
        """Whether the gate would hardly accept what the minibatch shows, even if all were so."""
        if self._field.holdout == "periods" or len(differences) < FEWEST_CLUSTERS:
            return False  # few users, or the same ones as at the gate: nothing is saved
        return self._next_gate().chance(differences) < FUTILITY

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
        gate = self._next_gate()
        self.left -= gate.level
        self._gated += 1
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

    def _next_gate(self) -> Gate:
        field = self._field
        return Gate(
            self._next_level(), field.gate_clusters, field.answers_per_cluster, field.look_every
        )

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
