"""What every engine keeps of its candidates: how they are made, their verdicts and files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from evolve.display import Standing
from evolve.evaluate import Scored
from evolve.field import Part
from evolve.optimize.architecture import start_of
from evolve.optimize.archive import Archive
from evolve.optimize.base import Proposal, Verdict, unscored
from evolve.optimize.credit import UNSCORED
from evolve.optimize.rewrite_check import with_ends_of
from evolve.setup import Setup
from evolve.trial import diagnoses_of
from feedback.digest import Case, Feedback, build_feedback
from feedback.scores import score
from policies.errors import AllFailedError, PolicyFileError
from policies.policy import Lineage, Policy

FREE_IN_A_ROW = 12  # proposals that cost nothing before a run ends: its proposer repeats itself


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


class Book:
    """What an engine keeps of its candidates.

    Args:
        setup: What the run is made of.
        archive: The seed.

    Attributes:
        archive: Accepted versions; the engine adds to it before it records the verdict.
        judged: Candidate's name to its verdict, in the order in which they were given.
        free: Proposals in a row that cost nothing.
    """

    def __init__(self, setup: Setup, archive: Archive) -> None:
        self.archive = archive
        self.judged: dict[str, Verdict] = {}
        self.free = 0
        self._setup = setup
        self._seen = {version.policy.id for version in archive.versions}
        self._shown: frozenset[str] = frozenset()  # users that numbers were last shown of

    @property
    def ids(self) -> set[str]:
        """Of all versions."""
        return {version.policy.id for version in self.archive.versions}

    @property
    def verdicts(self) -> list[Verdict]:
        """Of every candidate, in order."""
        return list(self.judged.values())

    @property
    def last(self) -> Verdict | None:
        """On the candidate judged last."""
        return self.verdicts[-1] if self.judged else None

    def repeats(self, what: str = "proposals could be judged") -> str:
        """Why the run ends, where nothing new was proposed for long; else empty."""
        if self.free < FREE_IN_A_ROW:
            return ""
        return f"none of the last {self.free} {what}"

    def candidate(
        self, name: str, asked: tuple[Proposal, str | None], parent: Policy, feedback: Feedback
    ) -> Candidate:
        """What a proposal makes of a parent; turned down where that is no policy, or nothing new.

        Args:
            name: Of the candidate; its generation is part of it.
            asked: The proposal, and why it was refused, if it was.
            parent: What it changes.
            feedback: What it was made from.
        """
        (proposal, why), limits = asked, self.archive.constraints
        lineage = self.lineage(parent, name, proposal.operator, feedback.markdown)
        if proposal.merged is not None:
            lineage = replace(lineage, parents=(parent.id, proposal.merged))
        start = start_of(proposal, parent, limits)
        new_name = f"{start.architecture}-{name}"
        try:
            policy = start.derive(proposal.texts, proposal.settings, new_name, lineage)
        except PolicyFileError as error:
            policy, why = start.derive({}, {}, new_name, lineage), why or str(error)
        stage = "text"
        if why is None and policy.id in self._seen:
            stage, why = "duplicate", "equal to a policy proposed already"
        if why is None:
            stage, why = "limit", limits.too_large(policy.settings)
        self.free = 0 if why is None else self.free + 1
        if why is not None:
            return Candidate(name, policy, unscored(policy, parent, stage, why))
        self._seen.add(policy.id)
        return Candidate(name, policy)

    def lineage(self, parent: Policy, name: str, operator: str, feedback: str | None) -> Lineage:
        """Of a candidate made of a parent; ``feedback`` is what it was made from."""
        digest = None if feedback is None else hashlib.sha256(feedback.encode()).hexdigest()[:12]
        return Lineage(
            parents=(parent.id,),
            generation=int(name.removeprefix("gen-").partition(".")[0]),
            operator=operator,
            feedback=digest,
            run=self._setup.folder.name,
            environment=self._setup.environment,
        )

    def record(
        self,
        name: str,
        policy: Policy,
        verdict: Verdict,
        *,
        wanted: bool = False,
        note: str = "",
    ) -> None:
        """Journal a verdict, tell the proposer, and write the candidate's files.

        Transcripts are dropped of what is no version, unless they are still ``wanted``. A ``note``
        is for the watcher alone.
        """
        setup = self._setup
        setup.evaluator.journal.once("verdict", name, lambda: asdict(verdict))
        self.judged[name] = verdict
        setup.proposals.observe(verdict)
        setup.folder.write_candidate(name, policy, verdict)
        if verdict.accepted:
            versions = {version.policy.id: version for version in self.archive.versions}
            setup.folder.write_version(versions[policy.id])
        elif verdict.stage not in UNSCORED and policy.id not in self.ids and not wanted:
            setup.evaluator.forget(policy)
        outcome = "accepted" if verdict.accepted else f"rejected ({verdict.stage})"
        if verdict.incumbent != policy.lineage.parents[0]:
            outcome += f" against {verdict.incumbent[:8]}"
        setup.display.say(
            f"{name} {policy.short_id} {verdict.operator}: {outcome}, {verdict.reason}{note}"
        )

    def show(self, generation: int, scored: Sequence[Scored], part: Part = "train") -> None:
        """Where the run stands, by rollouts of the best version on train or validation users."""
        setup = self._setup
        counted = setup.field.select(diagnoses_of(scored), part)
        found = score(counted)
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
                people=self._people(frozenset(d.user for d in counted), part),
            )
        )

    def _people(self, users: frozenset[str], part: Part) -> str:
        """Users in words, compared with those that numbers were last shown of."""
        kind = "train" if part == "train" else "validation"
        people = f"{len(users)} {kind} user{'s' * (len(users) != 1)}"
        before, self._shown = self._shown, users
        if not before:
            return people
        return f"the same {people}" if users == before else f"{people}, others than before"


def feedback_on(
    setup: Setup, policy: Policy, scored: Sequence[Scored], part: Part = "train"
) -> Feedback:
    """What rollouts on train or validation users say of a policy.

    Raises:
        AllFailedError: They all failed.
    """
    field = setup.field
    users = {user.id: user for user in (*field.train, *field.gate)}
    cases = [
        Case(
            one.rollout,
            users[one.rollout.user].truth(),
            tuple(field.select(one.diagnoses, part)),
        )
        for one in scored
    ]
    if not any(case.diagnoses for case in cases):
        reason = scored[0].rollout.failure if scored else "none was lived"
        raise AllFailedError(
            f"A run learns from what its policies live through, but every rollout of "
            f"{policy.name} failed ({reason}); mend the cause, then begin a new run."
        )
    return build_feedback(policy, cases)


def changed(policy: Policy, texts: Mapping[str, str], name: str, lineage: Lineage) -> Policy:
    """A policy with new texts, the white space at their ends kept.

    Raises:
        PolicyFileError: A text is empty, or lacks a placeholder or invents one.
    """
    framed = {key: with_ends_of(policy.texts[key], text) or "" for key, text in texts.items()}
    return replace(policy, scores={}).derive(framed, {}, name, lineage)
