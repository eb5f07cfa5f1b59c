"""What a run has tried so far, as proposers may look at it: from train users alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evolve.field import Field
from evolve.gym.users import User
from evolve.optimize.base import Tried, Verdict
from evolve.optimize.credit import UNSCORED
from evolve.trial import Trials, diagnoses_of
from feedback.changes import blame_changes
from feedback.digest import Feedback
from feedback.records import Diagnosis
from policies.policy import Policy


class History:
    """Candidates that were scored or heard, with what became of them.

    Args:
        trials: Know what was scored.
        field: Who is a train user, and which answers count there.

    Attributes:
        tried: In order.
    """

    def __init__(self, trials: Trials, field: Field) -> None:
        self.tried: tuple[Tried, ...] = ()
        self._trials = trials
        self._field = field

    def add(
        self,
        candidate: Policy,
        verdict: Verdict,
        made_from: tuple[Policy, Feedback],
        incumbent: Policy,
        block: Sequence[User],
    ) -> None:
        """Keep a candidate, if it was scored or heard.

        Args:
            candidate: The policy.
            verdict: What became of it.
            made_from: Its parent, and the feedback on that.
            incumbent: What it was compared with.
            block: The users of its minibatch.
        """
        parent, feedback = made_from
        if verdict.stage not in UNSCORED:
            ours, theirs = (self._said(policy, block) for policy in (candidate, incumbent))
            changes = blame_changes(ours, theirs)
        elif verdict.heard_difference is not None:
            changes = {}
        else:
            return
        tried = Tried(candidate, parent, verdict, feedback, changes)
        self.tried = (*self.tried, tried)

    def strengths(self, versions: Iterable[Policy]) -> Mapping[str, Mapping[str, float]]:
        """Version to train user (under a split by time, a user's question) to its accuracy."""
        return {
            policy.id: self._field.accuracies(self._said(policy, self._field.train), "train")
            for policy in versions
        }

    def _said(self, policy: Policy, users: Sequence[User]) -> list[Diagnosis]:
        found = diagnoses_of(self._trials.known(policy, users))
        return self._field.select(found, "train")
