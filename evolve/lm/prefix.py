"""Measures how much of every prompt was sent before as a prefix: what a prompt cache can serve.

A prompt is cut into blocks from its start. A block was sent before if an earlier prompt of the
same model had it after the same blocks, as in a provider's own cache. Only recent prompts are
remembered: providers forget, too, and memory stays bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from evolve.lm.base import Message

BLOCK = 64  # bytes: about 16 tokens, as servers with a cache of their own have it
_REMEMBERED = 200_000  # blocks; as many of the time before are kept


class Prefixes:
    """What was sent, by role."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: set[int] = set()
        self._before: set[int] = set()
        self._bytes: dict[str, tuple[int, int]] = {}  # role to sent before, sent

    def sent(self, model: str, role: str, messages: Sequence[Message]) -> None:
        """Count a prompt that is about to be sent; linear in its length, a few µs per kilobyte."""
        content = b"".join(
            f"<{each.role}>{each.content}".encode("utf-8", "replace") for each in messages
        )
        chain, chains = hash(model), []
        for start in range(0, len(content), BLOCK):
            chain = hash((chain, content[start : start + BLOCK]))
            chains.append(chain)
        with self._lock:
            again = 0
            for chain in chains:
                if chain not in self._recent and chain not in self._before:
                    break
                again += 1
            self._recent.update(chains)
            if len(self._recent) > _REMEMBERED:
                self._recent, self._before = set(), self._recent
            before, total = self._bytes.get(role, (0, 0))
            shared = min(again * BLOCK, len(content))
            self._bytes[role] = (before + shared, total + len(content))

    def take(self) -> dict[str, tuple[int, int]]:
        """Role to bytes that were sent before, and bytes sent, counted anew from now on."""
        with self._lock:
            taken, self._bytes = self._bytes, {}
        return taken

    def add(self, counted: Mapping[str, tuple[int, int]]) -> None:
        """Count what another process took."""
        with self._lock:
            for role, (again, sent) in counted.items():
                before, total = self._bytes.get(role, (0, 0))
                self._bytes[role] = (before + again, total + sent)

    def shares(self) -> dict[str, float]:
        """Role to the share of its prompt tokens that stood in a prefix sent before, 0 to 1."""
        with self._lock:
            return {role: before / total for role, (before, total) in sorted(self._bytes.items())}
