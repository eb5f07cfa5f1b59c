"""The engine ``validation``: the best is what scores highest on validation users, by no other test.

So Optuna's studies, random search and EvolveMem accept. The gate users are the validation users;
every candidate is made from the best so far and scored on them, block by block, and one that is
behind by Optuna's own pruner is stopped. What failed is read from the best policy's rollouts there,
as there are no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evolve.book import Book, Candidate, feedback_on
from evolve.evaluate import Job, Scored
from evolve.optimize.archive import Archive
from evolve.optimize.base import ProposalContext, Tried, Verdict, unscored
from evolve.optimize.credit import UNSCORED, mass_of
from evolve.optimize.pruning import is_behind
from evolve.seeding import derive
from evolve.setup import Setup
from evolve.trial import diagnoses_of
from feedback.digest import Feedback
from feedback.scores import tokens_per_answer
from policies.errors import BudgetExhaustedError
from policies.policy import Policy

BLOCK = 4  # validation users that are lived side by side between two looks of the pruner


class Validation:
    """A run of it.

    Args:
        setup: What the run is made of.
        archive: The seed.

    Attributes:
        book: Versions (what was the best at its time) and candidates.
        reason: Why the run ended.
        mass: Part to its share of the best policy's wrong answers.
        screen: None: all candidates go on-policy.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.reason = ""
        self.mass: Mapping[str, float] = {}
        self.screen = None
        self._setup = setup
        self.book = Book(setup, archive.choose(archive.versions[0].policy.id))
        self._tried: tuple[Tried, ...] = ()
        self._number = 0

    def run(self) -> None:
        """Propose and score until the budget is spent, or nothing new is proposed."""
        try:
            seed = self.book.archive.best().policy
            self._score(seed, len(self._setup.field.gate))
            self._measured(seed)
            while not self.reason:
                self._number += 1
                self._one_candidate()
                self.reason = self.book.repeats()
        except BudgetExhaustedError as spent:
            self.reason = f"the budget is spent: {spent}"

    def _one_candidate(self) -> None:
        setup, best = self._setup, self.book.archive.best().policy
        feedback = feedback_on(setup, best, self._known(best), "gate")
        self.mass = mass_of(best, feedback)
        setup.folder.write_feedback(self._number, feedback)
        self._show()
        candidate = self._propose(best, feedback)
        policy, verdict = candidate.policy, candidate.verdict
        if verdict is None:
            try:
                verdict = self._judge(policy, best)
            except BudgetExhaustedError:
                why = "the budget ended before all validation users"
                self.book.record(candidate.name, policy, unscored(policy, best, "budget", why))
                raise
        if verdict.accepted:
            accepted = self.book.archive.accept(
                policy, self._gate(policy), verdict.tokens_per_answer
            )
            self.book.archive = accepted.choose(policy.id)
        if verdict.stage not in UNSCORED:
            self._tried = (*self._tried, Tried(policy, best, verdict, feedback, {}))
        self.book.record(candidate.name, policy, verdict)
        self._show()

    def _propose(self, best: Policy, feedback: Feedback) -> Candidate:
        setup, name = self._setup, f"gen-{self._number:03d}.0"
        context = ProposalContext(
            parent=best,
            versions=tuple(version.policy for version in self.book.archive.versions),
            feedback=feedback,
            last_verdict=self.book.last,
            seed=derive(setup.seed, "proposal", self._number, 0),
            constraints=self.book.archive.constraints,
            tried=self._tried,
        )
        return self.book.candidate(name, setup.proposals.ask(name, context), best, feedback)

    def _judge(self, policy: Policy, best: Policy) -> Verdict:
        """Score a candidate on validation users, as far as it gets."""
        everyone = self._setup.field.gate
        limits, theirs = self.book.archive.constraints, self._gate(best)
        over = limits.too_dear(self.book.archive.version(best.id).tokens) is not None
        for most in (*range(BLOCK, len(everyone), BLOCK), len(everyone)):
            verdict = self._verdict(policy, best, self._score(policy, most))
            too_dear = limits.too_dear(verdict.tokens_per_answer)
            if verdict.stage == "failed":
                return verdict
            if too_dear is not None:
                return replace(verdict, stage="tokens", reason=too_dear)
            mine = self._gate(policy)
            if over or len(mine) < 2 or most == len(everyone):
                continue
            if is_behind(mine, theirs):
                return replace(verdict, reason=f"stopped as it is behind: {verdict.reason}")
        if over and verdict.tokens_per_answer is not None:
            within = f"{verdict.tokens_per_answer:.0f} tokens per answer keep the limit"
            return replace(verdict, accepted=True, stage="tokens", reason=within)
        return replace(verdict, accepted=(verdict.minibatch_difference or 0.0) > 0)

    def _verdict(self, policy: Policy, best: Policy, scored: Sequence[Scored]) -> Verdict:
        """What is known of a candidate so far."""
        kept = [one.rollout for one in scored]
        own = next((one.failure for one in kept if one.failure_kind == "policy"), None)
        if own is not None:
            return unscored(policy, best, "failed", own)
        lived = [one for one in kept if one.answers]
        mine, theirs = self._gate(policy), self._gate(best)
        differences = [mine[key] - theirs[key] for key in mine if key in theirs]
        mean = round(sum(differences) / len(differences), 9) if differences else None
        units = f"{len(differences)} validation cluster{'s' * (len(differences) != 1)}"
        return replace(
            unscored(policy, best, "validation", f"mean difference {mean or 0.0:+.4f} on {units}"),
            minibatch_difference=mean,
            tokens_per_answer=tokens_per_answer(lived) if lived else None,
        )

    def _score(self, policy: Policy, most: int) -> list[Scored]:
        field = self._setup.field
        jobs = [Job(policy, user, field.span(user)) for user in field.gate[:most]]
        return self._setup.evaluator.score(jobs)

    def _known(self, policy: Policy) -> list[Scored]:
        field = self._setup.field
        return self._setup.evaluator.known(policy, field.gate, field.span)

    def _gate(self, policy: Policy) -> dict[str, float]:
        return self._setup.field.accuracies(diagnoses_of(self._known(policy)), "gate")

    def _measured(self, seed: Policy) -> None:
        archive = self.book.archive.judged(seed.id, self._gate(seed))
        lived = [one.rollout for one in self._known(seed) if one.rollout.answers]
        if lived:
            archive = archive.measured(seed.id, tokens_per_answer(lived))
        self.book.archive = archive

    def _show(self) -> None:
        self.book.show(self._number, self._known(self.book.archive.best().policy), "gate")
