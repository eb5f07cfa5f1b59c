"""What moves a run from its seed to its best version, by the name that a strategy gives it.

An engine is a function of the run's options: whatever it pays for passes through the evaluator and
the journal, so that a resumed run asks for the same things in the same order and ends the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Protocol

from evolve.display import Standing
from evolve.evaluate import Scored
from evolve.evolution import Evolution
from evolve.lm.meter import Meter
from evolve.optimize.archive import Archive
from evolve.optimize.base import Proposal, ProposalContext, Verdict
from evolve.optimize.strategy import STRATEGIES
from evolve.screening import ScreenSummary
from evolve.setup import Setup
from evolve.trial import diagnoses_of
from feedback.digest import Case, Feedback, build_feedback
from feedback.scores import score
from policies.policy import Lineage, Policy


class Engine(Protocol):
    """Evolves one run.

    ``run`` is called once. It returns when the budget or its ideas are spent, with ``reason`` set,
    and lets the errors of a run pass. Every candidate is written to ``candidates/`` and every
    version to ``policies/`` as soon as its verdict is in the journal.
    """

    @property
    def archive(self) -> Archive:
        """Accepted versions, the seed first."""

    @property
    def judged(self) -> Mapping[str, Verdict]:
        """Candidate's name to its verdict, in the order in which they were given."""

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Of every candidate, in order."""

    @property
    def mass(self) -> Mapping[str, float]:
        """Policy part to its share of the failures last looked at; empty if it decides nothing."""

    @property
    def screen(self) -> ScreenSummary | None:
        """What hearing candidates off-policy came to; None where none are."""

    @property
    def reason(self) -> str:
        """Why the run ended."""

    def run(self) -> None:
        """Evolve to the end."""


def make_engine(strategy: str, setup: Setup, archive: Archive, rewriter: Meter) -> Engine:
    """The engine of a strategy.

    Args:
        strategy: Its name.
        setup: What the run is made of.
        archive: The seed.
        rewriter: Asked by an engine that proposes by itself.
    """
    name = STRATEGIES[strategy].engine
    if name == "gepa":
        from evolve.gepa_engine import GepaEngine

        return GepaEngine(setup, archive, rewriter)
    if name == "self-evolution":
        from evolve.self_evolution import SelfEvolution

        return SelfEvolution(setup, archive)
    return Evolution(setup, archive)


class Book:
    """What an engine keeps of its candidates: verdicts, files, and the line that people read.

    Args:
        setup: What the run is made of.
        archive: The seed.

    Attributes:
        archive: Accepted versions; the engine adds to it before it records the verdict.
        judged: Candidate's name to its verdict.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.archive = archive
        self.judged: dict[str, Verdict] = {}
        self._setup = setup

    @property
    def ids(self) -> set[str]:
        """Of all versions."""
        return {version.policy.id for version in self.archive.versions}

    def lineage(
        self, parent: Policy, generation: int, operator: str, feedback: str | None
    ) -> Lineage:
        """Of a candidate made of a parent; ``feedback`` is what it was made from."""
        digest = None if feedback is None else hashlib.sha256(feedback.encode()).hexdigest()[:12]
        setup = self._setup
        return Lineage(
            parents=(parent.id,),
            generation=generation,
            operator=operator,
            feedback=digest,
            run=setup.folder.name,
            environment=setup.environment,
        )

    def record(self, name: str, policy: Policy, verdict: Verdict) -> None:
        """Journal a verdict, tell the proposer, and write the candidate's files."""
        setup = self._setup
        setup.evaluator.journal.once("verdict", name, lambda: asdict(verdict))
        self.judged[name] = verdict
        setup.proposals.observe(verdict)
        setup.folder.write_candidate(name, policy, verdict)
        if verdict.accepted:
            versions = {version.policy.id: version for version in self.archive.versions}
            setup.folder.write_version(versions[policy.id])
        elif policy.id not in self.ids:
            setup.evaluator.forget(policy)
        outcome = "accepted" if verdict.accepted else f"rejected ({verdict.stage})"
        setup.display.say(
            f"{name} {policy.short_id} {verdict.operator}: {outcome}, {verdict.reason}"
        )

    def show(self, generation: int, scored: Sequence[Scored]) -> None:
        """Where the run stands, by rollouts of the best version on train users."""
        setup = self._setup
        found = score(setup.field.select(diagnoses_of(scored), "train"))
        setup.display.standing(
            Standing(
                generation=generation,
                spent=float(setup.evaluator.ledger.spent),
                budget=setup.plan.budget,
                set_aside=float(setup.plan.set_aside),
                best=found.accuracy,
                stages=(found.write or 0.0, found.read or 0.0, found.utilization or 0.0),
                unread=found.format,
                versions=len(self.archive.versions),
                candidates=len(self.judged),
                policy=self.archive.best().policy.id,
            )
        )


class NoProposer:
    """Of an engine that proposes by itself: nobody asks it."""

    def propose(self, context: ProposalContext) -> Proposal:
        """Is never called."""
        raise NotImplementedError("the engine of this strategy proposes by itself")

    def observe(self, verdict: Verdict) -> None:
        """Learn nothing."""


def unscored(policy: Policy, parent: Policy, stage: str, reason: str) -> Verdict:
    """A verdict on a candidate that was not scored."""
    operator = policy.lineage.operator
    return Verdict(policy.id, parent.id, policy.settings, operator, False, stage, reason)


def feedback_on(setup: Setup, policy: Policy, scored: Sequence[Scored]) -> Feedback | None:
    """What rollouts on train users say of a policy; None where all of them failed."""
    users = {user.id: user for user in setup.field.train}
    cases = [
        Case(
            one.rollout,
            users[one.rollout.user].truth(),
            tuple(setup.field.select(one.diagnoses, "train")),
        )
        for one in scored
    ]
    return build_feedback(policy, cases) if any(case.diagnoses for case in cases) else None


def with_ends_of(old: str, new: str) -> str:
    """A text with the white space at the ends of another: a model's reply does not carry it."""
    start, end = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    return f"{start}{new.strip()}{end}"


def changed(policy: Policy, texts: Mapping[str, str], name: str, lineage: Lineage) -> Policy:
    """A policy with new texts, the white space at their ends kept.

    Raises:
        PolicyFileError: A text is empty, or lacks a placeholder or invents one.
    """
    framed = {key: with_ends_of(policy.texts[key], text) for key, text in texts.items()}
    return replace(policy, scores={}).derive(framed, {}, name, lineage)
