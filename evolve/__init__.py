"""The loop: environments, agents, optimization."""

from evolve.api import Run, run

__all__ = ["Run", "run"]
