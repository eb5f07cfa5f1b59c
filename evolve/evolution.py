"""The outer loop: generations of candidates from the best version, each judged and recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from evolve.display import Standing
from evolve.evaluate import Job, Scored
from evolve.history import History
from evolve.inputs import unread
from evolve.minibatch import Lived, Minibatch
from evolve.optimize.architecture import start_of
from evolve.optimize.archive import Archive, PassedOver
from evolve.optimize.base import ProposalContext, Verdict
from evolve.optimize.credit import mass_of
from evolve.screening import PROPOSED, Screen, ScreenSummary
from evolve.seeding import derive
from evolve.setup import Setup
from evolve.trial import Trials, diagnoses_of
from feedback.digest import Case, Feedback, build_feedback
from feedback.records import Stage
from feedback.scores import score, tokens_per_answer
from policies.errors import AllFailedError, BudgetExhaustedError, PolicyFileError
from policies.policy import Lineage, Policy

PER_GENERATION = 2  # candidates of one parent that go on-policy side by side
FREE_IN_A_ROW = 12  # proposals that cost nothing before the run ends: its proposer repeats itself


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
        mass: Part to its share of the last parent's wrong answers.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.archive = archive
        self.judged: dict[str, Verdict] = {}
        self.reason = ""
        self.mass: Mapping[str, float] = {}
        self._setup = setup
        self._trials = Trials(setup.evaluator, setup.field, setup.plan, archive.constraints)
        self._history = History(self._trials, setup.field)
        thrift = setup.thrift
        self._minibatch = Minibatch(setup.evaluator, setup.field, racing=thrift.racing)
        self._screen = Screen(setup.evaluator, setup.field, used=thrift.screening)
        self._seen = {version.policy.id for version in archive.versions}
        self._generation = 0
        self._free = 0
        self._written = ""
        self._warned = False

    @property
    def screen(self) -> ScreenSummary:
        """How candidates were screened, in numbers."""
        return self._screen.summary()

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
        jobs = [Job(parent, user, setup.field.span(user)) for user in block]
        of_parent = setup.evaluator.score(jobs)
        cost, left = self._minibatch.cost(block), setup.evaluator.ledger.left
        if cost > left:
            raise BudgetExhaustedError("the next minibatch costs more than is left")
        lived = [scored.rollout for scored in of_parent if scored.rollout.failure is None]
        if lived:
            self.archive = self.archive.measured(parent.id, tokens_per_answer(lived))
        feedback = self._feedback(parent, of_parent)
        self.mass = mass_of(parent, feedback)
        self._show()
        self._warn(of_parent)
        # A screen that leaves no room for whom it chooses would be of no use.
        screened = self._screen.on and self._screen.cost(block) + PER_GENERATION * cost <= left
        waiting = self._propose_all(parent, feedback, PROPOSED if screened else PER_GENERATION)
        policies = [candidate.policy for candidate in waiting if candidate.verdict is None]
        chosen = self._screen.choose(policies, parent, block, PER_GENERATION)
        came = dict(zip(chosen, self._minibatch.score(chosen, parent, block), strict=True))
        incumbent = parent
        for candidate in waiting:
            verdict = candidate.verdict
            if verdict is None:
                verdict = self._verdict(candidate, parent, incumbent, came)
            made_from = parent, feedback
            self._history.add(candidate.policy, verdict, made_from, incumbent, block)
            self._record(candidate, verdict)
            # What is accepted is what the generation's other candidates must be better than.
            if verdict.accepted and self.archive.best().policy == candidate.policy:
                incumbent = candidate.policy
            self._show()
        if any(not one.users for one in came.values()):
            raise BudgetExhaustedError("the next minibatch costs more than is left")

    def _verdict(
        self,
        candidate: Candidate,
        parent: Policy,
        incumbent: Policy,
        came: Mapping[Policy, Lived],
    ) -> Verdict:
        policy = candidate.policy
        if policy not in came:
            return _turned_down(policy, parent.id, "screen", self._screen.reason(policy))
        found = came[policy]
        if not found.users:
            why = "the budget ended before its minibatch"
            return _turned_down(policy, parent.id, "budget", why)
        verdict = self._judge(policy, incumbent, found)
        if incumbent == parent:
            self._screen.learn(policy, verdict.minibatch_difference)
        return verdict

    def _judge(self, policy: Policy, incumbent: Policy, came: Lived) -> Verdict:
        spent = self.archive.version(incumbent.id).tokens
        over = spent if self.archive.constraints.too_dear(spent) is not None else None
        judged = self._trials.judge(policy, incumbent, came.users, stopped=came.stopped, over=over)
        tokens = judged.verdict.tokens_per_answer
        if judged.verdict.accepted:
            self.archive = self.archive.judged(incumbent.id, judged.incumbent)
            self.archive = self.archive.accept(policy, judged.candidate, tokens)
        elif judged.difference is not None and tokens is not None:
            seen = PassedOver(
                policy, incumbent.id, judged.difference, len(judged.candidate), tokens
            )
            self.archive = self.archive.pass_over(seen)
        return judged.verdict

    def _propose_all(self, parent: Policy, feedback: Feedback, count: int) -> list[Candidate]:
        """The generation's candidates, without those that were turned down before any other."""
        waiting: list[Candidate] = []
        for place in range(count):
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
        versions = tuple(version.policy for version in self.archive.versions)
        context = ProposalContext(
            parent=parent,
            versions=versions,
            feedback=feedback,
            last_verdict=self.verdicts[-1] if self.judged else None,
            seed=derive(self._setup.seed, "proposal", self._generation, place),
            spent=self._spent,
            constraints=self.archive.constraints,
            tried=self._history.tried,
            strengths=self._history.strengths(versions),
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
        start = start_of(proposal, parent, self.archive.constraints)
        new_name = f"{start.architecture}-{name}"
        try:
            policy = start.derive(proposal.texts, proposal.settings, new_name, lineage)
        except PolicyFileError as error:
            policy, rejected = start.derive({}, {}, new_name, lineage), rejected or str(error)
        verdict = None
        if rejected is not None:
            verdict = _turned_down(policy, parent.id, "text", rejected)
        elif policy.id in self._seen:
            why = "equal to a policy proposed already"
            verdict = _turned_down(policy, parent.id, "duplicate", why)
        else:
            too_large = self.archive.constraints.too_large(policy.settings)
            if too_large is not None:
                verdict = _turned_down(policy, parent.id, "limit", too_large)
        return Candidate(name, policy, verdict)

    @property
    def _spent(self) -> float:
        """Share of what candidates may cost that is spent."""
        plan = self._setup.plan
        return float(self._setup.evaluator.ledger.spent / (plan.budget - plan.set_aside))

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
                policy=best.id,
            )
        )


def _turned_down(policy: Policy, parent: str, stage: str, reason: str) -> Verdict:
    """The verdict on a candidate that was never scored."""
    operator = policy.lineage.operator
    return Verdict(policy.id, parent, policy.settings, operator, False, stage, reason)
