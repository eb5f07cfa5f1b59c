"""What moves a run from its seed to its best version, by the name that a strategy gives it.

An engine is a function of the run's options: whatever it pays for passes through the evaluator and
the journal, so that a resumed run asks for the same things in the same order and ends the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from evolve.book import Book
from evolve.evolution import Evolution
from evolve.lm.meter import Meter
from evolve.optimize.archive import Archive
from evolve.optimize.strategy import STRATEGIES
from evolve.screening import ScreenSummary
from evolve.setup import Setup


class Engine(Protocol):
    """Evolves one run.

    ``run`` is called once. It returns when the budget or its ideas are spent, with ``reason`` set,
    and lets the errors of a run pass. Every candidate is written to ``candidates/`` and every
    version to ``policies/`` as soon as its verdict is in the journal.
    """

    @property
    def book(self) -> Book:
        """Its versions, and what became of every candidate."""

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
    if name == "validation":
        from evolve.validation import Validation

        return Validation(setup, archive)
    return Evolution(setup, archive)
