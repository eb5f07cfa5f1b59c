"""The outer loop: generations of candidates from the best version, each judged and recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from evolve.display import Display, Standing
from evolve.evaluate import Evaluator, Job, Scored
from evolve.field import Field
from evolve.folder import RunFolder
from evolve.gym.rollout import share
from evolve.gym.users import User
from evolve.optimize.archive import Archive
from evolve.optimize.base import ProposalContext, Verdict
from evolve.plan import Plan
from evolve.proposals import Proposals
from evolve.seeding import derive
from evolve.trial import Trials, diagnoses_of
from feedback.digest import Case, Feedback, build_feedback
from feedback.records import Stage
from feedback.scores import score
from policies.errors import AllFailedError, BudgetExhaustedError, PolicyFileError
from policies.policy import Lineage, Policy

PER_GENERATION = 2  # candidates proposed side by side from one parent
FREE_IN_A_ROW = 12  # proposals that cost nothing before the run ends: its proposer repeats itself


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run is made of.

    Attributes:
        evaluator: Scores and pays.
        proposals: Asks for proposals.
        field: Who is scored where.
        plan: What the budget buys.
        folder: Where files that people read go.
        display: What the watcher sees.
        seed: Of the run.
    """

    evaluator: Evaluator
    proposals: Proposals
    field: Field
    plan: Plan
    folder: RunFolder
    display: Display
    seed: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed policy: ``name`` is its generation and place in it, such as ``gen-003.1``."""

    name: str
    policy: Policy


class Evolution:
    """A run in the making; all of it is rebuilt from the journal when the run is resumed.

    Args:
        setup: What it is made of.
        archive: The seed.

    Attributes:
        archive: Accepted versions, the seed first.
        verdicts: Of every candidate, in order.
        reason: Why the run ended.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.archive = archive
        self.verdicts: list[Verdict] = []
        self.reason = ""
        self._setup = setup
        self._trials = Trials(setup.evaluator, setup.field, setup.plan)
        self._seen = {version.policy.id for version in archive.versions}
        self._generation = 0
        self._free = 0

    def run(self) -> None:
        """Evolve until the budget, the level or the proposer's ideas are spent."""
        try:
            while not self.reason:
                self._generation += 1
                self._one_generation()
                self.reason = self._trials.over or self._repeats() or ""
        except BudgetExhaustedError as spent:
            self.reason = f"the budget is spent: {spent}"

    def _one_generation(self) -> None:
        setup, parent = self._setup, self.archive.best().policy
        block = setup.field.minibatch(len(self.archive.versions) - 1)
        jobs = [Job(parent, user, setup.field.span(user)) for user in block]
        of_parent = setup.evaluator.score(jobs)
        if self._minibatch_cost(block) > setup.evaluator.ledger.left:
            raise BudgetExhaustedError("the next minibatch costs more than is left")
        feedback = self._feedback(parent, of_parent)
        self._show(of_parent)
        proposed = [self._propose(parent, feedback, place) for place in range(PER_GENERATION)]
        candidates = [candidate for candidate in proposed if candidate is not None]
        affordable = [c for c in candidates if self._pay_minibatch(c, candidates)]
        for candidate in affordable:
            judged = self._trials.judge(candidate.policy, parent, block)
            if judged.verdict.accepted:
                self.archive = self.archive.judged(parent.id, judged.parent)
                self.archive = self.archive.accept(candidate.policy, judged.candidate)
            self._record(candidate, judged.verdict)
            self._show(of_parent)
        if len(affordable) < len(candidates):
            raise BudgetExhaustedError("the next minibatch costs more than is left")

    def _minibatch_cost(self, block: Sequence[User]) -> Fraction:
        """What a new candidate is charged on the minibatch."""
        world, span = self._setup.evaluator.spec.build(), self._setup.field.span
        return sum((share(user, world, span(user)) for user in block), start=Fraction(0))

    def _pay_minibatch(self, candidate: Candidate, candidates: Sequence[Candidate]) -> bool:
        """Score a candidate on the minibatch, all of its generation at once where that is paid."""
        setup = self._setup
        block = setup.field.minibatch(len(self.archive.versions) - 1)
        for together in (candidates, [candidate]):
            jobs = [Job(c.policy, u, setup.field.span(u)) for c in together for u in block]
            if setup.evaluator.cost(jobs) <= setup.evaluator.ledger.left:
                setup.evaluator.score(jobs)
                return True
        verdict = self._turned_down(candidate.policy, candidate.policy.lineage.parents[0])
        self._record(candidate, verdict("budget", "the budget ended before its minibatch"))
        return False

    def _propose(self, parent: Policy, feedback: Feedback, place: int) -> Candidate | None:
        """A candidate worth scoring, or None where the proposal cost nothing."""
        name = f"gen-{self._generation:03d}.{place}"
        context = ProposalContext(
            parent=parent,
            versions=tuple(version.policy for version in self.archive.versions),
            feedback=feedback,
            last_verdict=self.verdicts[-1] if self.verdicts else None,
            seed=derive(self._setup.seed, "proposal", self._generation, place),
        )
        proposal, rejected = self._setup.proposals.ask(name, context)
        merged = () if proposal.merged is None else (proposal.merged,)
        lineage = Lineage(
            parents=(parent.id, *merged),
            generation=self._generation,
            operator=proposal.operator,
            feedback=hashlib.sha256(feedback.markdown.encode()).hexdigest()[:12],
            run=self._setup.folder.name,
        )
        new_name = f"{parent.architecture}-{name}"
        try:
            policy = parent.derive(proposal.texts, proposal.settings, new_name, lineage)
        except PolicyFileError as error:
            policy, rejected = parent.derive({}, {}, new_name, lineage), rejected or str(error)
        if rejected is not None:
            self._free += 1
            verdict = self._turned_down(policy, parent.id)
            self._record(Candidate(name, policy), verdict("text", rejected))
            return None
        candidate = Candidate(name, policy)
        if policy.id in self._seen:
            self._free += 1
            verdict = self._turned_down(policy, parent.id)
            self._record(candidate, verdict("duplicate", "equal to a policy judged already"))
            return None
        self._seen.add(policy.id)
        self._free = 0
        return candidate

    @staticmethod
    def _turned_down(policy: Policy, parent: str) -> Any:
        """A verdict, given stage and reason, on a candidate that was never scored."""

        def verdict(stage: str, reason: str) -> Verdict:
            operator = policy.lineage.operator
            return Verdict(policy.id, parent, policy.settings, operator, False, stage, reason)

        return verdict

    def _repeats(self) -> str | None:
        if self._free < FREE_IN_A_ROW:
            return None
        return f"none of the last {self._free} proposals could be judged"

    def _record(self, candidate: Candidate, verdict: Verdict) -> None:
        setup, policy = self._setup, candidate.policy
        setup.evaluator.journal.once("verdict", candidate.name, lambda: asdict(verdict))
        self.verdicts.append(verdict)
        setup.proposals.observe(verdict)
        setup.folder.write_candidate(candidate.name, policy, verdict)
        if verdict.accepted:
            setup.folder.write_version(self.archive.versions[-1])
        elif policy.id not in {version.policy.id for version in self.archive.versions}:
            setup.evaluator.forget(policy)
        outcome = "accepted" if verdict.accepted else f"rejected ({verdict.stage})"
        setup.display.say(
            f"{candidate.name} {policy.short_id} {verdict.operator}: {outcome}, {verdict.reason}"
        )

    def _feedback(self, parent: Policy, of_parent: Sequence[Scored]) -> Feedback:
        """What all train rollouts of the parent say."""
        setup = self._setup
        users = {user.id: user for block in setup.field.minibatches for user in block}
        cases = [
            Case(
                scored.rollout,
                users[scored.rollout.user].truth(),
                tuple(setup.field.select(scored.diagnoses, "train")),
            )
            for scored in self._trials.known(parent, list(users.values()))
            if scored.rollout.failure is None
        ]
        if not any(case.diagnoses for case in cases):
            reason = of_parent[0].rollout.failure
            raise AllFailedError(
                f"A run learns from what its policies live through, but every rollout of "
                f"{parent.name} failed ({reason}); mend the cause, then begin a new run."
            )
        feedback = build_feedback(parent, cases)
        setup.folder.write_feedback(self._generation, feedback)
        return feedback

    def _show(self, of_parent: Sequence[Scored]) -> None:
        setup = self._setup
        diagnoses = setup.field.select(diagnoses_of(of_parent), "train")
        if not diagnoses:
            return
        found = score(diagnoses)
        gate = self.archive.best().gate
        of_train = sum(d.stage is Stage.RIGHT for d in diagnoses) / len(diagnoses)
        setup.display.standing(
            Standing(
                generation=self._generation,
                spent=float(setup.evaluator.ledger.spent),
                budget=setup.plan.budget,
                best=sum(gate.values()) / len(gate) if gate else of_train,
                stages=(found.write or 0.0, found.read or 0.0, found.utilization or 0.0),
                versions=len(self.archive.versions),
                candidates=len(self.verdicts),
            )
        )
