"""The outer loop: generations of candidates from the best version, each judged and recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from evolve.display import Display, Standing
from evolve.evaluate import Evaluator, Job, Scored
from evolve.field import Field, Part
from evolve.folder import RunFolder
from evolve.gym.users import User
from evolve.optimize.archive import Archive, Version
from evolve.optimize.base import Proposal, ProposalContext, Proposer, Verdict
from evolve.optimize.gate import Gate, candidate_level, minibatch_passes
from evolve.plan import Plan
from evolve.seeding import derive
from feedback.digest import Case, Feedback, build_feedback
from feedback.records import Diagnosis, Stage
from feedback.scores import score, tokens_per_answer
from policies.errors import BudgetExhaustedError, PolicyFileError, RejectedTextError
from policies.policy import Lineage, Policy

PER_GENERATION = 2  # candidates proposed side by side from one parent
_FREE_IN_A_ROW = 12  # proposals that cost nothing before the run ends: a proposer repeats itself


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed policy on its way through the tests.

    Attributes:
        name: ``gen-003.1``: generation and place in it.
        policy: The policy.
    """

    name: str
    policy: Policy


@dataclass(slots=True)
class Evolution:
    """The state of a run; everything in it is rebuilt when the run is resumed.

    Attributes:
        evaluator: Scores and pays.
        proposer: Proposes.
        field: Who is scored where.
        plan: What the budget buys.
        folder: Where files that people read go.
        display: What the watcher sees.
        seed: Of the run.
        archive: Accepted versions, seed first.
        verdicts: Of every candidate, in order.
        reason: Why the run ended.
    """

    evaluator: Evaluator
    proposer: Proposer
    field: Field
    plan: Plan
    folder: RunFolder
    display: Display
    seed: int
    archive: Archive
    verdicts: list[Verdict] = field(default_factory=list)
    reason: str = ""
    _judged: set[str] = field(default_factory=set)
    _gated: int = 0
    _generation: int = 0
    _free: int = 0

    def run(self) -> None:
        """Evolve until the budget, the level or the proposer's ideas are spent."""
        self._judged = {version.policy.id for version in self.archive.versions}
        try:
            while not self.reason:
                self._generation += 1
                self._one_generation()
        except BudgetExhaustedError as spent:
            self.reason = f"the budget is spent ({spent})"

    def _one_generation(self) -> None:
        parent = self.archive.best().policy
        block = self.field.minibatch(len(self.archive.versions) - 1)
        of_parent = self._score(parent, block)
        feedback = self._feedback(parent)
        self._show(of_parent)
        proposed = [self._propose(parent, feedback, i) for i in range(PER_GENERATION)]
        candidates = [candidate for candidate in proposed if candidate is not None]
        jobs = [Job(c.policy, u, self.field.span(u)) for c in candidates for u in block]
        if self.evaluator.cost(jobs) > self.evaluator.ledger.left:
            candidates = candidates[:1]
            jobs = jobs[: len(block)]
        self.evaluator.score(jobs)
        for candidate in candidates:
            self._judge(candidate, parent, block)
            self._show(of_parent)
        if self._free >= _FREE_IN_A_ROW:
            self.reason = f"the last {self._free} proposals were none that could be judged"

    def _propose(self, parent: Policy, feedback: Feedback, place: int) -> Candidate | None:
        """One candidate worth scoring, or None where the proposal cost nothing."""
        name = f"gen-{self._generation:03d}.{place}"
        context = ProposalContext(
            parent=parent,
            versions=tuple(version.policy for version in self.archive.versions),
            feedback=feedback,
            last_verdict=self.verdicts[-1] if self.verdicts else None,
            seed=derive(self.seed, "proposal", self._generation, place),
        )

        def make() -> dict[str, Any]:
            try:
                return asdict(self.proposer.propose(context))
            except RejectedTextError as error:
                return {"operator": "rewrite", "rejected": str(error)}

        data = self.evaluator.journal.once("proposal", name, make)
        if "rejected" in data:
            return self._turn_down(name, parent, data["operator"], "text", data["rejected"])
        proposal = Proposal(**data)
        lineage = Lineage(
            (parent.id,),
            self._generation,
            proposal.operator,
            _feedback_id(feedback),
            self.folder.name,
        )
        try:
            policy = parent.derive(
                proposal.texts,
                proposal.settings,
                name=f"{parent.architecture}-{name}",
                lineage=lineage,
            )
        except PolicyFileError as error:
            return self._turn_down(name, parent, proposal.operator, "text", str(error))
        if policy.id in self._judged:
            return self._turn_down(
                name,
                policy,
                proposal.operator,
                "duplicate",
                "a policy that was judged already",
                parent,
            )
        self._judged.add(policy.id)
        return Candidate(name, policy)

    def _turn_down(
        self,
        name: str,
        policy: Policy,
        operator: str,
        stage: str,
        reason: str,
        parent: Policy | None = None,
    ) -> None:
        """Record a proposal that is not scored."""
        parent_id = (parent or policy).id
        self._free += 1
        self._record(
            name,
            policy,
            Verdict(policy.id, parent_id, policy.settings, operator, False, stage, reason),
        )

    def _judge(self, candidate: Candidate, parent: Policy, block: Sequence[User]) -> None:
        """Minibatch, then gate."""
        self._free = 0
        scored = self._known(candidate.policy, block)
        verdict = Verdict(
            candidate=candidate.policy.id,
            parent=parent.id,
            settings=candidate.policy.settings,
            operator=candidate.policy.lineage.operator,
            accepted=False,
            stage="failed",
            reason="",
        )
        failed = [s.rollout.failure for s in scored if s.rollout.failure_kind == "policy"]
        if failed:
            self._record(candidate.name, candidate.policy, replace(verdict, reason=str(failed[0])))
            return
        differences = self._differences(candidate.policy, parent, block, "train")
        lived = [s.rollout for s in scored if s.rollout.failure is None]
        mean = sum(differences) / len(differences) if differences else 0.0
        verdict = replace(
            verdict,
            stage="minibatch",
            minibatch_difference=mean if differences else None,
            tokens_per_answer=tokens_per_answer(lived) if lived else None,
            reason=f"mean paired difference {mean:+.4f} on {len(differences)} minibatch clusters",
        )
        if minibatch_passes(differences):
            verdict = self._gate(candidate.policy, parent, verdict)
        self._record(candidate.name, candidate.policy, verdict)

    def _gate(self, policy: Policy, parent: Policy, verdict: Verdict) -> Verdict:
        """The sequential paired test on gate users; accepts the candidate into the archive."""
        if self._gated >= self.plan.candidates:
            self.reason = f"the level of the run is spent on {self._gated} candidates"
            return replace(verdict, reason=f"{verdict.reason}; {self.reason}")
        self._gated += 1
        gate = Gate(
            candidate_level(self.plan.candidates),
            self.field.gate_clusters,
            self.field.answers_per_cluster,
            self._look_every,
        )
        users: tuple[User, ...] = ()
        while True:
            users, exhausted = self._next_users(users, gate, policy, parent)
            differences = self._differences(policy, parent, users, "gate")
            decision = gate.decide(differences, exhausted)
            if decision.state != "continue":
                break
        if decision.state == "accept":
            self._accept(policy, parent, users)
        return replace(
            verdict, stage="gate", accepted=decision.state == "accept", reason=decision.reason
        )

    @property
    def _look_every(self) -> int:
        if self.field.holdout == "users":
            return 4
        # A user's questions come together, so a look takes whole users.
        return max(4, *(len(user.questions) for user in self.field.gate))

    def _next_users(
        self, users: tuple[User, ...], gate: Gate, policy: Policy, parent: Policy
    ) -> tuple[tuple[User, ...], bool]:
        """Gate users for the next look, scored for both, and whether no more can come."""
        everyone = self.field.gate
        if self.field.holdout == "periods":
            self._score(policy, everyone)
            self._score(parent, everyone)
            return everyone, True
        judged = len(self._differences(policy, parent, users, "gate"))
        more = everyone[: len(users) + max(1, gate.missing(judged))]
        new = more[len(users) :]
        jobs = [Job(p, u, self.field.span(u)) for p in (policy, parent) for u in new]
        if self.evaluator.cost(jobs) > self.evaluator.ledger.left:
            return users, True
        self.evaluator.score(jobs)
        return more, len(more) == len(everyone)

    def _accept(self, policy: Policy, parent: Policy, users: Sequence[User]) -> None:
        def accuracies(of: Policy) -> dict[str, float]:
            return self.field.accuracies(_diagnoses(self._known(of, users)), "gate")

        self.archive = self.archive.judged(parent.id, accuracies(parent))
        self.archive = self.archive.accept(policy, accuracies(policy))

    def _record(self, name: str, policy: Policy, verdict: Verdict) -> None:
        self.evaluator.journal.once("verdict", name, lambda: asdict(verdict))
        self.verdicts.append(verdict)
        self.proposer.observe(verdict)
        self.folder.write_candidate(name, policy, verdict)
        if verdict.accepted:
            self.folder.write_version(self.archive.versions[-1])
        elif policy.id == verdict.candidate != verdict.parent:
            self.evaluator.forget(policy)
        outcome = "accepted" if verdict.accepted else f"rejected ({verdict.stage})"
        self.display.say(
            f"{name} {policy.short_id} {verdict.operator}: {outcome}, {verdict.reason}"
        )

    def _feedback(self, parent: Policy) -> Feedback:
        """What all train rollouts of the parent say."""
        train = [user for block in self.field.minibatches for user in block]
        cases = []
        for user, scored in self._pairs(parent, train):
            if scored.rollout.failure is None:
                diagnoses = tuple(self.field.select(scored.diagnoses, "train"))
                cases.append(Case(scored.rollout, user.truth(), diagnoses))
        feedback = build_feedback(parent, cases)
        self.folder.write_feedback(self._generation, feedback)
        return feedback

    def _show(self, of_parent: Sequence[Scored]) -> None:
        diagnoses = self.field.select(_diagnoses(of_parent), "train")
        stages = None
        if diagnoses:
            found = score(diagnoses)
            if found.write is not None:
                stages = (found.write, found.read or 0.0, found.utilization or 0.0)
        self.display.standing(
            Standing(
                generation=self._generation,
                spent=float(self.evaluator.ledger.spent),
                budget=self.plan.budget,
                best=_best_accuracy(self.archive.best(), diagnoses),
                stages=stages,
                versions=len(self.archive.versions),
                candidates=len(self.verdicts),
            )
        )

    def _score(self, policy: Policy, users: Sequence[User]) -> list[Scored]:
        return self.evaluator.score([Job(policy, u, self.field.span(u)) for u in users])

    def _known(self, policy: Policy, users: Sequence[User]) -> list[Scored]:
        return [scored for _, scored in self._pairs(policy, users)]

    def _pairs(self, policy: Policy, users: Sequence[User]) -> list[tuple[User, Scored]]:
        found = self.evaluator.known(policy, users, self.field.span)
        by_user = {scored.rollout.user: scored for scored in found}
        return [(user, by_user[user.id]) for user in users if user.id in by_user]

    def _differences(
        self, policy: Policy, parent: Policy, users: Sequence[User], part: Part
    ) -> list[float]:
        """Candidate minus parent per cluster, in the users' order, failed pairs left out."""
        ours = self.field.accuracies(_diagnoses(self._known(policy, users)), part)
        theirs = self.field.accuracies(_diagnoses(self._known(parent, users)), part)
        return [ours[cluster] - theirs[cluster] for cluster in ours if cluster in theirs]


def _diagnoses(scored: Sequence[Scored]) -> list[Diagnosis]:
    return [diagnosis for one in scored for diagnosis in one.diagnoses]


def _best_accuracy(version: Version, diagnoses: Sequence[Diagnosis]) -> float | None:
    if version.gate:
        return sum(version.gate.values()) / len(version.gate)
    if not diagnoses:
        return None
    return sum(d.stage is Stage.RIGHT for d in diagnoses) / len(diagnoses)


def _feedback_id(feedback: Feedback) -> str:
    return hashlib.sha256(feedback.markdown.encode()).hexdigest()[:12]
