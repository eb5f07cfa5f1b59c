"""What a run is made of, whatever evolves it."""

from __future__ import annotations

from dataclasses import dataclass

from evolve.display import Display
from evolve.evaluate import Evaluator
from evolve.field import Field
from evolve.folder import RunFolder
from evolve.plan import Plan
from evolve.proposals import Proposals


@dataclass(frozen=True, slots=True)
class Thrift:
    """What a run saves on candidates.

    Attributes:
        racing: Whether the minibatch stops those without a chance half-way.
        screening: Whether candidates are heard off-policy first, as long as that predicts.
    """

    racing: bool = True
    screening: bool = True


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run is made of.

    Attributes:
        evaluator: Scores and pays.
        proposals: Asks for proposals.
        field: Who is scored where.
        plan: What the budget buys.
        folder: Where files that people read go.
        display: What the watcher sees.
        seed: Of the run.
        environment: Digest of the environment file.
        thrift: What is saved on candidates.
    """

    evaluator: Evaluator
    proposals: Proposals
    field: Field
    plan: Plan
    folder: RunFolder
    display: Display
    seed: int
    environment: str
    thrift: Thrift = Thrift()
