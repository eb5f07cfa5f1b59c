"""The outer loop: generations of candidates from the best version, each judged and recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

from evolve.display import Display, Standing
from evolve.evaluate import Evaluator, Job, Scored
from evolve.field import Field
from evolve.folder import RunFolder
from evolve.gym.rollout import share
from evolve.gym.users import User
from evolve.inputs import unread
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
        environment: Digest of the environment file.
    """

    evaluator: Evaluator
    proposals: Proposals
    field: Field
    plan: Plan
    folder: RunFolder
    display: Display
    seed: int
    environment: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed policy.

    Attributes:
        name: Its generation and place in it, such as ``gen-003.1``.
        policy: The policy.
        verdict: Why it was turned down unscored, or None.
    """

    name: str
    policy: Policy
    verdict: Verdict | None = None


class Evolution:
    """A run in the making; all of it is rebuilt from the journal when the run is resumed.

    Args:
        setup: What it is made of.
        archive: The seed.

    Attributes:
        archive: Accepted versions, the seed first.
        judged: Candidate's name to its verdict, in the order in which they were given.
        reason: Why the run ended.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.archive = archive
        self.judged: dict[str, Verdict] = {}
        self.reason = ""
        self._setup = setup
        self._trials = Trials(setup.evaluator, setup.field, setup.plan)
        self._seen = {version.policy.id for version in archive.versions}
        self._generation = 0
        self._free = 0
        self._written = ""
        self._warned = False

    @property
    def verdicts(self) -> list[Verdict]:
        """Of every candidate, in order."""
        return list(self.judged.values())

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
        of_parent = setup.evaluator.score(self._jobs([parent], block))
        if self._minibatch_cost(block) > setup.evaluator.ledger.left:
            raise BudgetExhaustedError("the next minibatch costs more than is left")
        feedback = self._feedback(parent, of_parent)
        self._show()
        self._warn(of_parent)
        waiting = self._propose_all(parent, feedback)
        scorable = [candidate for candidate in waiting if candidate.verdict is None]
        paid = self._pay_minibatch(scorable, block)
        incumbent = parent
        for candidate in waiting:
            verdict = candidate.verdict
            if verdict is None and candidate not in paid:
                why = "the budget ended before its minibatch"
                verdict = _turned_down(candidate.policy, parent.id, "budget", why)
            if verdict is None:
                verdict = self._judge(candidate, incumbent, block)
            self._record(candidate, verdict)
            # What is accepted is what the generation's other candidates must be better than.
            if verdict.accepted and self.archive.best().policy == candidate.policy:
                incumbent = candidate.policy
            self._show()
        if len(paid) < len(scorable):
            raise BudgetExhaustedError("the next minibatch costs more than is left")

    def _jobs(self, policies: Sequence[Policy], block: Sequence[User]) -> list[Job]:
        return [Job(policy, u, self._setup.field.span(u)) for policy in policies for u in block]

    def _minibatch_cost(self, block: Sequence[User]) -> Fraction:
        """What a new candidate is charged on the minibatch."""
        world, span = self._setup.evaluator.spec.build(), self._setup.field.span
        return sum((share(user, world, span(user)) for user in block), start=Fraction(0))

    def _pay_minibatch(
        self, candidates: Sequence[Candidate], block: Sequence[User]
    ) -> Sequence[Candidate]:
        """Score on the minibatch, side by side, as many of the candidates as can be paid."""
        evaluator = self._setup.evaluator
        for count in range(len(candidates), 0, -1):
            jobs = self._jobs([candidate.policy for candidate in candidates[:count]], block)
            if evaluator.cost(jobs) <= evaluator.ledger.left:
                evaluator.score(jobs)
                return candidates[:count]
        return ()

    def _judge(self, candidate: Candidate, incumbent: Policy, block: Sequence[User]) -> Verdict:
        judged = self._trials.judge(candidate.policy, incumbent, block)
        if judged.verdict.accepted:
            self.archive = self.archive.judged(incumbent.id, judged.incumbent)
            self.archive = self.archive.accept(candidate.policy, judged.candidate)
        return judged.verdict

    def _propose_all(self, parent: Policy, feedback: Feedback) -> list[Candidate]:
        """The generation's candidates, without those that were turned down before any other."""
        waiting: list[Candidate] = []
        for place in range(PER_GENERATION):
            candidate = self._propose(parent, feedback, place)
            if candidate.verdict is None:
                self._seen.add(candidate.policy.id)
                self._free = 0
            else:
                self._free += 1
            if candidate.verdict is None or waiting:
                waiting.append(candidate)
            else:  # at once, so that the next proposal is made knowing it
                self._record(candidate, candidate.verdict)
        return waiting

    def _propose(self, parent: Policy, feedback: Feedback, place: int) -> Candidate:
        name = f"gen-{self._generation:03d}.{place}"
        context = ProposalContext(
            parent=parent,
            versions=tuple(version.policy for version in self.archive.versions),
            feedback=feedback,
            last_verdict=self.verdicts[-1] if self.judged else None,
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
            environment=self._setup.environment,
        )
        new_name = f"{parent.architecture}-{name}"
        try:
            policy = parent.derive(proposal.texts, proposal.settings, new_name, lineage)
        except PolicyFileError as error:
            policy, rejected = parent.derive({}, {}, new_name, lineage), rejected or str(error)
        verdict = None
        if rejected is not None:
            verdict = _turned_down(policy, parent.id, "text", rejected)
        elif policy.id in self._seen:
            why = "equal to a policy proposed already"
            verdict = _turned_down(policy, parent.id, "duplicate", why)
        return Candidate(name, policy, verdict)

    def _repeats(self) -> str | None:
        if self._free < FREE_IN_A_ROW:
            return None
        return f"none of the last {self._free} proposals could be judged"

    def _record(self, candidate: Candidate, verdict: Verdict) -> None:
        setup, policy = self._setup, candidate.policy
        setup.evaluator.journal.once("verdict", candidate.name, lambda: asdict(verdict))
        self.judged[candidate.name] = verdict
        setup.proposals.observe(verdict)
        setup.folder.write_candidate(candidate.name, policy, verdict)
        if verdict.accepted:
            setup.folder.write_version(self.archive.versions[-1])
        elif policy.id not in {version.policy.id for version in self.archive.versions}:
            setup.evaluator.forget(policy)
        outcome = "accepted" if verdict.accepted else f"rejected ({verdict.stage})"
        if verdict.incumbent != policy.lineage.parents[0]:
            outcome += f" against {verdict.incumbent[:8]}"
        setup.display.say(
            f"{candidate.name} {policy.short_id} {verdict.operator}: {outcome}, {verdict.reason}"
        )

    def _feedback(self, parent: Policy, of_parent: Sequence[Scored]) -> Feedback:
        """What all train rollouts of the parent say; written where it says something new."""
        setup = self._setup
        users = {user.id: user for user in setup.field.train}
        cases = [
            Case(
                scored.rollout,
                users[scored.rollout.user].truth(),
                tuple(setup.field.select(scored.diagnoses, "train")),
            )
            for scored in self._trials.known(parent, setup.field.train)
        ]
        if not any(case.diagnoses for case in cases):
            reason = of_parent[0].rollout.failure
            raise AllFailedError(
                f"A run learns from what its policies live through, but every rollout of "
                f"{parent.name} failed ({reason}); mend the cause, then begin a new run."
            )
        feedback = build_feedback(parent, cases)
        if feedback.markdown != self._written:
            self._written = feedback.markdown
            setup.folder.write_feedback(self._generation, feedback)
        return feedback

    def _warn(self, of_parent: Sequence[Scored]) -> None:
        """Say once a run that a parent's answers cannot be read: no change of texts mends that."""
        if self._warned:
            return
        setup = self._setup
        stages = [d.stage for d in setup.field.select(diagnoses_of(of_parent), "train")]
        warning = unread(stages.count(Stage.FORMAT), len(stages), "the parent's minibatch")
        if warning is not None:
            self._warned = True
            setup.display.say(warning)

    def _show(self) -> None:
        """Where the run stands: the best version on the train users that it was scored on."""
        setup, best = self._setup, self.archive.best().policy
        scored = self._trials.known(best, setup.field.train)
        found = score(setup.field.select(diagnoses_of(scored), "train"))
        setup.display.standing(
            Standing(
                generation=self._generation,
                spent=float(setup.evaluator.ledger.spent),
                budget=setup.plan.budget,
                set_aside=float(setup.plan.set_aside),
                best=found.accuracy,
                stages=(found.write or 0.0, found.read or 0.0, found.utilization or 0.0),
                unread=found.format,
                versions=len(self.archive.versions),
                candidates=len(self.judged),
            )
        )


def _turned_down(policy: Policy, parent: str, stage: str, reason: str) -> Verdict:
    """The verdict on a candidate that was never scored."""
    operator = policy.lineage.operator
    return Verdict(policy.id, parent, policy.settings, operator, False, stage, reason)
