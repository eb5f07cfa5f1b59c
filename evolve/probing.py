"""Decides per architecture whether a period's states are probed in one call, by what that changes.

An architecture that shows the same memory whatever is asked could be asked for all states of a
period at once, which saves most of its probes. Whether a model says the same then is not taken for
granted: the first rollouts of such an architecture are probed both ways, and the saving is used
where hardly anything differs. A policy that remembers more may be another matter than the seed, so
while it is used the first rollout of every further policy is probed both ways, too; once too much
differs, each question has its own probe for the rest of the run.

All of this depends on what was journaled alone, in its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from evolve.gym.probes import ProbeMode
from feedback.records import Compared, Rollout
from policies.policy import Policy

SAME_SHOWN = ("none", "native", "awi")  # what they show does not depend on the question
MEASURED = 3  # first rollouts of an architecture; on the sample 384 probes
# Of probes, those that may differ. The share of a stage in a minibatch, say 0.2 of 384 answers, has
# a standard error of 0.02: a saving blurs the feedback no more than the choice of users does.
BOUND = 0.02


class Probing:
    """How the rollouts of one run are probed.

    Args:
        architectures: That its policies may have. Of others, each question has its own probe.
        say: Is told what is decided.

    Attributes:
        architectures: As given, each once.
    """

    def __init__(
        self, architectures: Iterable[str] = (), say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.architectures = tuple(dict.fromkeys(architectures))
        self._say = say
        self._begun = Counter[str]()
        self._ended = Counter[str]()
        self._looked_at = set[str]()
        self._found: dict[str, Compared] = {}

    def may_save(self, architecture: str) -> bool:
        """Whether some of its rollouts may yet be probed in another way than singly."""
        measured = architecture in SAME_SHOWN and architecture in self.architectures
        return measured and self._state(architecture) != "single"

    def left(self, architecture: str) -> int:
        """How many of its first rollouts are still to be probed both ways."""
        if not self.may_save(architecture):
            return 0
        return max(0, MEASURED - self._begun[architecture])

    def settled(self, architecture: str) -> ProbeMode:
        """How rollouts are probed that are not probed both ways: singly until it is decided."""
        return "joint" if self._state(architecture) == "joint" else "single"

    def is_new(self, policy: str) -> bool:
        """Whether no rollout of a policy, by its id, was probed both ways."""
        return policy not in self._looked_at

    def modes(self, policies: Sequence[Policy]) -> list[ProbeMode]:
        """How the next rollouts are probed, reserved together, by the policies that live them."""
        left = {a: self.left(a) for a in {policy.architecture for policy in policies}}
        looked_at, modes = set(self._looked_at), list[ProbeMode]()
        for policy in policies:
            settled = self.settled(policy.architecture)
            both = left[policy.architecture] > 0
            left[policy.architecture] -= both
            both = both or (settled == "joint" and policy.id not in looked_at)
            if both:
                looked_at.add(policy.id)
            modes.append("both" if both else settled)
        return modes

    def begin(self, policy: Policy, probes: ProbeMode) -> None:
        """A rollout was reserved."""
        if probes == "both":
            self._begun[policy.architecture] += 1
            self._looked_at.add(policy.id)

    def end(self, policy: Policy, probes: ProbeMode, rollout: Rollout) -> None:
        """It is in the journal; one that failed says nothing, and is not replaced."""
        if probes != "both":
            return
        architecture, before = policy.architecture, self._state(policy.architecture)
        found = rollout.joint if rollout.failure is None else None
        total = self._found.get(architecture, Compared()) + (found or Compared())
        self._found[architecture] = total
        self._ended[architecture] += 1
        now = self._state(architecture)
        if now != before:
            self._say(told(architecture, total))

    def summary(self) -> dict[str, dict[str, Any]]:
        """Per architecture that was probed both ways: counts, their share, and the mode since."""
        return {
            architecture: {
                "compared": found.compared,
                "differing": found.differing,
                "share": share_of(found),
                "mode": self._state(architecture),
            }
            for architecture, found in sorted(self._found.items())
        }

    def _state(self, architecture: str) -> Literal["measuring", "joint", "single"]:
        if self._ended[architecture] < MEASURED:
            return "measuring"
        return "joint" if is_same(self._found[architecture]) else "single"


def share_of(found: Compared) -> float | None:
    """Share of probes that differ, 0 to 1; None where none was compared."""
    return found.differing / found.compared if found.compared else None


def is_same(found: Compared) -> bool:
    """Whether so little differs that a period's states may be asked in one call."""
    share = share_of(found)
    return share is not None and share <= BOUND


def told(architecture: str, found: Compared) -> str:
    """What is decided, in one line."""
    so = "so they are" if is_same(found) else "so each question keeps its own"
    return (
        f"probes of {architecture}: {found.differing} of {found.compared} differ when a period's "
        f"states are asked in one call, {so} (bound {100 * BOUND:g} %)"
    )


def most_measured(seed: str, architectures: Iterable[str]) -> int:
    """How many rollouts are probed both ways at most, before a first proposal is judged.

    These are the first of the seed's architecture, and of the proposal's if it moves to another,
    and one more for the look at the proposal itself.

    Args:
        seed: The seed's architecture.
        architectures: That policies of the run may have.
    """
    others = any(one in SAME_SHOWN for one in architectures if one != seed)
    return (MEASURED + 1) * ((seed in SAME_SHOWN) + others)
