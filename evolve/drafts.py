"""The draft: a candidate that was not accepted, but that the next proposals build on.

One change alone may gain too little for the gate to tell it from chance where several together
would not. So what gained something is kept for a while: proposals are made from it, and must be
better than it on the minibatch, but at the gate they are compared with the best version, as ever.
"""

from __future__ import annotations

from policies.policy import Policy

PATIENCE = 2  # generations that come to nothing before a draft is given up


class Drafts:
    """The draft of a run, and whose turn it is on the minibatch.

    Args:
        used: Whether there is ever any; for ablations.

    Attributes:
        turn: Number of the minibatch: the next one comes with every new version, and where nothing
            came of a generation without a draft, so that a run does not go on about few users.
    """

    def __init__(self, *, used: bool = True) -> None:
        self.turn = 0
        self._used = used
        self._draft: tuple[float, Policy] | None = None
        self._waiting: list[tuple[float, Policy]] = []
        self._idle = 0

    def parent(self, best: Policy) -> Policy:
        """What the next proposals change: the draft, or else the best version."""
        return best if self._draft is None else self._draft[1]

    def offer(self, policy: Policy, gain: float) -> bool:
        """Whether a candidate of this generation may become the draft.

        Args:
            policy: The candidate.
            gain: What it may be expected to gain over the best version, in accuracy.
        """
        if self._used:
            self._waiting.append((gain, policy))
        return self._used

    def close(self, *, accepted: bool) -> list[Policy]:
        """End a generation.

        Args:
            accepted: Whether there is a new best version.

        Returns:
            Candidates, the old draft perhaps among them, that nothing will be built on.
        """
        old = [] if self._draft is None else [self._draft]
        waiting, self._waiting = self._waiting, []
        best = max(waiting, key=lambda one: one[0], default=None)
        if accepted:
            self._draft, self._idle = None, 0
            self.turn += 1
        elif best is not None and (self._draft is None or best[0] > self._draft[0]):
            self._draft, self._idle = best, 0
        else:
            self._idle += 1
            if self._draft is None or self._idle >= PATIENCE:
                self._draft, self._idle = None, 0
                self.turn += 1
        return [policy for gain, policy in old + waiting if (gain, policy) != self._draft]
