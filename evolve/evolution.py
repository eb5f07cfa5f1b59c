"""The outer loop: generations of candidates from the best version, each judged and recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolve.book import Book, Candidate, feedback_on
from evolve.drafts import Drafts
from evolve.evaluate import Job, Scored
from evolve.history import History
from evolve.inputs import unread
from evolve.minibatch import Lived, Minibatch
from evolve.optimize.archive import Archive, PassedOver
from evolve.optimize.base import ProposalContext, Verdict, unscored
from evolve.optimize.credit import mass_of
from evolve.screening import PROPOSED, Screen, ScreenSummary
from evolve.seeding import derive
from evolve.setup import Setup
from evolve.trial import Judged, Trials, diagnoses_of
from feedback.digest import Feedback
from feedback.records import Stage
from feedback.scores import tokens_per_answer
from policies.errors import BudgetExhaustedError
from policies.policy import Policy

PER_GENERATION = 2  # candidates of one parent that go on-policy side by side


class Evolution:
    """A run in the making; all of it is rebuilt from the journal when the run is resumed.

    Args:
        setup: What it is made of.
        archive: The seed.

    Attributes:
        book: Versions, and what became of every candidate.
        reason: Why the run ended.
        mass: Part to its share of the last parent's wrong answers.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.reason = ""
        self.mass: Mapping[str, float] = {}
        self._setup = setup
        self.book = Book(setup, archive)
        self._trials = Trials(setup.evaluator, setup.field, setup.plan, archive.constraints)
        self._history = History(self._trials, setup.field)
        thrift = setup.thrift
        self._minibatch = Minibatch(setup.evaluator, setup.field, racing=thrift.racing)
        limits = archive.constraints
        self._screen = Screen(setup.evaluator, setup.field, limits, used=thrift.screening)
        self._drafts = Drafts()
        self._generation = 0
        self._written = ""
        self._warned = False

    @property
    def screen(self) -> ScreenSummary:
        """How candidates were screened, in numbers."""
        return self._screen.summary()

    def run(self) -> None:
        """Evolve until the budget, the level or the proposer's ideas are spent."""
        try:
            while not self.reason:
                self._generation += 1
                self._one_generation()
                self.reason = self._trials.over or self.book.repeats()
        except BudgetExhaustedError as spent:
            self.reason = f"the budget is spent: {spent}"

    def _one_generation(self) -> None:
        setup, best = self._setup, self.book.archive.best().policy
        parent, block = self._drafts.parent(best), setup.field.minibatch(self._drafts.turn)
        jobs = [Job(parent, user, setup.field.span(user)) for user in block]
        of_parent = setup.evaluator.score(jobs)
        cost, left = self._minibatch.cost(block), setup.evaluator.ledger.left
        if cost > left:
            raise BudgetExhaustedError("the next minibatch costs more than is left")
        lived = [scored.rollout for scored in of_parent if scored.rollout.failure is None]
        if lived and parent == best:
            self.book.archive = self.book.archive.measured(best.id, tokens_per_answer(lived))
        feedback = self._feedback(parent)
        self.mass = mass_of(parent, feedback)
        self._show()
        self._warn(of_parent)
        # A screen that leaves no room for whom it chooses would be of no use.
        screened = self._screen.on and self._screen.cost(block) + PER_GENERATION * cost <= left
        waiting = self._propose_all(parent, feedback, PROPOSED if screened else PER_GENERATION)
        policies = [candidate.policy for candidate in waiting if candidate.verdict is None]
        chosen = self._screen.choose(policies, parent, block, PER_GENERATION)
        came = dict(zip(chosen, self._minibatch.score(chosen, parent, block), strict=True))
        incumbent = best
        for candidate in waiting:
            verdict, expected = candidate.verdict, None
            if verdict is None:
                verdict, expected = self._verdict(candidate, parent, incumbent, came)
            made_from = parent, feedback
            self._history.add(candidate.policy, verdict, made_from, incumbent, block)
            wanted = False
            if expected is not None and incumbent == best:
                wanted = self._drafts.offer(candidate.policy, expected)
            self.book.record(candidate.name, candidate.policy, verdict, wanted=wanted)
            # What is accepted is what the generation's other candidates must be better than.
            if verdict.accepted and self.book.archive.best().policy == candidate.policy:
                incumbent = candidate.policy
            self._show()
        for policy in self._drafts.close(accepted=incumbent != best):
            if policy.id not in self.book.ids:
                setup.evaluator.forget(policy)
        if any(not one.users for one in came.values()):
            raise BudgetExhaustedError("the next minibatch costs more than is left")

    def _verdict(
        self,
        candidate: Candidate,
        parent: Policy,
        incumbent: Policy,
        came: Mapping[Policy, Lived],
    ) -> tuple[Verdict, float | None]:
        """What becomes of a candidate, and what it may be expected to gain, if it may."""
        policy = candidate.policy
        if policy not in came:
            return self._screen.verdict(policy, parent), None
        found = came[policy]
        if not found.users:
            why = "the budget ended before its minibatch"
            return unscored(policy, parent, "budget", why), None
        self._screen.learn(policy, self._trials.difference(policy, parent, found.users))
        judged = self._judge(policy, parent, incumbent, found)
        return judged.verdict, judged.expected

    def _judge(self, policy: Policy, parent: Policy, incumbent: Policy, came: Lived) -> Judged:
        spent = self.book.archive.version(incumbent.id).tokens
        judged = self._trials.judge(
            policy,
            incumbent,
            came.users,
            stopped=came.stopped,
            over=spent if self.book.archive.constraints.too_dear(spent) is not None else None,
            draft=None if parent.id in self.book.ids else parent,
        )
        tokens = judged.verdict.tokens_per_answer
        if judged.verdict.accepted:
            self.book.archive = self.book.archive.judged(incumbent.id, judged.incumbent)
            self.book.archive = self.book.archive.accept(policy, judged.candidate, tokens)
        elif judged.difference is not None and tokens is not None:
            seen = PassedOver(
                policy, incumbent.id, judged.difference, len(judged.candidate), tokens
            )
            self.book.archive = self.book.archive.pass_over(seen)
        return judged

    def _propose_all(self, parent: Policy, feedback: Feedback, count: int) -> list[Candidate]:
        """The generation's candidates, without those that were turned down before any other."""
        waiting: list[Candidate] = []
        for place in range(count):
            candidate = self._propose(parent, feedback, place)
            if candidate.verdict is None or waiting:
                waiting.append(candidate)
            else:  # at once, so that the next proposal is made knowing it
                self.book.record(candidate.name, candidate.policy, candidate.verdict)
        return waiting

    def _propose(self, parent: Policy, feedback: Feedback, place: int) -> Candidate:
        name = f"gen-{self._generation:03d}.{place}"
        versions = tuple(version.policy for version in self.book.archive.versions)
        context = ProposalContext(
            parent=parent,
            versions=versions,
            feedback=feedback,
            last_verdict=self.book.last,
            seed=derive(self._setup.seed, "proposal", self._generation, place),
            spent=self._spent,
            constraints=self.book.archive.constraints,
            tried=self._history.tried,
            strengths=self._history.strengths(versions),
        )
        asked = self._setup.proposals.ask(name, context)
        return self.book.candidate(name, asked, parent, feedback)

    @property
    def _spent(self) -> float:
        """Share of what candidates may cost that is spent."""
        plan = self._setup.plan
        return float(self._setup.evaluator.ledger.spent / (plan.budget - plan.set_aside))

    def _feedback(self, parent: Policy) -> Feedback:
        """What all train rollouts of the parent say; written where it says something new."""
        setup = self._setup
        scored = self._trials.known(parent, setup.field.train)
        feedback = feedback_on(setup, parent, scored)
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
        scored = self._trials.known(self.book.archive.best().policy, self._setup.field.train)
        self.book.show(self._generation, scored)
