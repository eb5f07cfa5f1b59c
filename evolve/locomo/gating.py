"""What goes to the gate of a search by the evidence, and what becomes of it there.

The limit of tokens must hold on dialogues that settings were not chosen by: sizes differ from
dialogue to dialogue. So settings that show too much on the gate's give way to others that showed
less on the train dialogues, by as much as they were too much; what keeps the limit is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

from evolve.journal import Journal
from evolve.locomo.retrieval import Finder, mean_of
from evolve.locomo.tuning import OPERATOR, Trial, choose, judge
from evolve.optimize.base import Verdict
from policies.policy import Lineage, Policy

LOOKS = 3  # candidates whose size is measured on the gate's dialogues


@dataclass(frozen=True, slots=True)
class Look:
    """A candidate at the gate.

    Attributes:
        name: Such as ``gen-001.0``.
        policy: The candidate.
        verdict: What became of it.
    """

    name: str
    policy: Policy
    verdict: Verdict


class Gate:
    """The gate's dialogues, and what is compared there.

    Args:
        finder: Of the gate's dialogues.
        seed: That the run began with.
        trials: Settings and what they find on the train dialogues, the seed's first.
        limit: Of tokens shown, on average.
    """

    def __init__(self, finder: Finder, seed: Policy, trials: Sequence[Trial], limit: int) -> None:
        self._finder = finder
        self._seed = seed
        self._trials = trials
        self._limit = limit

    def looks(self, lineage: Lineage, journal: Journal) -> list[Look]:
        """Candidates in order, their verdicts journaled; all but the last one show too much."""
        allowed, looks = float(self._limit), list[Look]()
        while len(looks) < LOOKS:
            chosen, name = choose(self._trials, allowed), f"gen-001.{len(looks)}"
            policy = self._seed.derive(
                settings=chosen.settings, name=f"rag-{name}", lineage=lineage
            )
            shown = mean_of(self._finder.find(policy.settings)).tokens
            verdict = self._verdict(policy, chosen, shown)
            kept = Verdict(**journal.once("verdict", name, partial(asdict, verdict)))
            looks.append(Look(name, policy, kept))
            if kept.stage != "tokens":
                break
            allowed = chosen.tokens * self._limit / shown
        return looks

    def _verdict(self, policy: Policy, chosen: Trial, shown: float) -> Verdict:
        accepted = False
        if policy.id == self._seed.id:
            stage = "duplicate"
            reason = "is the seed: no other settings within the limit found more evidence"
        elif shown > self._limit:
            stage = "tokens"
            reason = (
                f"rejected, shows {shown:.0f} tokens on the gate's dialogues, where at most "
                f"{self._limit} may be shown"
            )
        else:
            stage = "gate"
            mine, other = (self._finder.find(one.settings) for one in (policy, self._seed))
            found = judge(mine, other)
            accepted = found.accepted
            reason = (
                f"{'accepted' if accepted else 'rejected'}, mean difference in evidence recall "
                f"{found.difference:+.4f} over {found.dialogues} dialogues, p {found.p:.2g}"
            )
        return Verdict(
            candidate=policy.id,
            incumbent=self._seed.id,
            settings=dict(policy.settings),
            operator=OPERATOR,
            accepted=accepted,
            stage=stage,
            reason=reason,
            minibatch_difference=chosen.recall - self._trials[0].recall,
            tokens_per_answer=chosen.tokens,
        )
