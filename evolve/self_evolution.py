"""The engine ``self-evolution``: the list of remembered types is rewritten and installed at once.

It is the method that was published with the benchmark. A generation is one block of train users,
lived with the policy that is installed; from what failed there the list is rewritten, and the new
policy is installed without a test. So gate users are never asked, and the last policy that was
installed is the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evolve.book import FREE_IN_A_ROW, Book, changed, feedback_on
from evolve.evaluate import Job
from evolve.optimize.archive import Archive
from evolve.optimize.base import ProposalContext, unscored
from evolve.seeding import derive
from evolve.setup import Setup
from feedback.digest import Feedback
from feedback.scores import tokens_per_answer
from policies.errors import BudgetExhaustedError, PolicyFileError
from policies.policy import Policy


class SelfEvolution:
    """A run of it.

    Args:
        setup: What the run is made of; its proposer rewrites the list of types.
        archive: The seed.

    Attributes:
        book: Versions (what was installed; the best is the last) and candidates.
        reason: Why the run ended.
        mass: Empty: all that fails is put to one text.
        screen: None: all candidates go on-policy.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.reason = ""
        self.mass: Mapping[str, float] = {}
        self.screen = None
        self._setup = setup
        self._installed = archive.versions[0].policy
        self.book = Book(setup, archive.choose(self._installed.id))
        self._generation = 0

    def run(self) -> None:
        """Evolve until the budget is spent, or rewriting comes to nothing."""
        try:
            while not self.reason:
                self._generation += 1
                self._one_generation()
                self.reason = self.reason or self.book.repeats("rewrites could be installed")
        except BudgetExhaustedError as spent:
            self.reason = f"the budget is spent: {spent}"

    def _one_generation(self) -> None:
        setup, installed = self._setup, self._installed
        block = setup.field.minibatch(self._generation - 1)
        scored = setup.evaluator.score(
            [Job(installed, user, setup.field.span(user)) for user in block]
        )
        if self._generation > 1 and not any(one.diagnoses for one in scored):
            why = scored[0].rollout.failure
            self.reason = f"every rollout of the installed policy failed: {why}"
            return
        feedback = feedback_on(setup, installed, scored)
        lived = [one.rollout for one in scored if one.rollout.failure is None]
        self.book.archive = self.book.archive.measured(installed.id, tokens_per_answer(lived))
        self.book.show(self._generation, scored)
        setup.folder.write_feedback(self._generation, feedback)
        self._install(installed, feedback)

    def _install(self, installed: Policy, feedback: Feedback) -> None:
        """Rewrite the list and install the result, if it is a policy and another one."""
        name = f"gen-{self._generation:03d}.0"
        context = ProposalContext(
            parent=installed,
            versions=tuple(version.policy for version in self.book.archive.versions),
            feedback=feedback,
            last_verdict=self.book.last,
            seed=derive(self._setup.seed, "proposal", self._generation, 0),
        )
        proposal, rejected = self._setup.proposals.ask(name, context)
        lineage = self.book.lineage(installed, name, proposal.operator, feedback.markdown)
        new_name = f"{installed.architecture}-{name}"
        try:
            policy = changed(installed, proposal.texts, new_name, lineage)
        except PolicyFileError as error:
            policy = changed(installed, {}, new_name, lineage)
            rejected = rejected or str(error)
        if rejected is not None:
            verdict = unscored(policy, installed, "text", rejected)
        elif policy.id == installed.id:
            verdict = unscored(policy, installed, "duplicate", "the list is as it was")
        else:
            verdict = unscored(policy, installed, "installed", "installed without a test")
            verdict = replace(verdict, accepted=True)
            archive = self.book.archive
            if policy.id not in self.book.ids:
                archive = archive.accept(policy, {})
            self.book.archive = archive.choose(policy.id)
            self._installed = policy
        self.book.free = 0 if verdict.accepted else self.book.free + 1
        note = f" ({self.book.free} in a row; {FREE_IN_A_ROW} end the run)"
        self.book.record(name, policy, verdict, note=note if self.book.free > 1 else "")
