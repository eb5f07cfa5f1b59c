"""Where each policy of a run stands in the picture of its family, and how they are joined.

Versions stand in a row from left to right. What a generation proposed and did not accept hangs from
that row at the generation's place. Most candidates are made from the version left of them; one that
was made from another policy, such as a draft or an older version, is joined to it by a curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from evolve.optimize.credit import UNSCORED
from evolve.results.run_record import CandidateRecord, RunRecord

COLUMN = 56  # pixels between generations, and between versions of one
ROW = 24  # pixels between candidates of a generation
MARGIN = 32
BRANCH = 24  # pixels left of a candidate where its branch leaves the row of versions
MOST_CURVES = 24  # more of them hide each other

Kind = Literal["seed", "accepted", "rejected", "unscored"]


@dataclass(frozen=True, slots=True)
class Node:
    """A policy in the picture.

    Attributes:
        name: ``seed``, or the candidate's, such as ``gen-003.1``.
        policy: Its id.
        kind: What became of it; ``unscored`` where no rollout says anything of it.
        best: Whether it is the best version.
        x: From the left, in pixels.
        y: From the top, in pixels.
        told: What is said of it in a line.
    """

    name: str
    policy: str
    kind: Kind
    best: bool
    x: int
    y: int
    told: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A line of the picture.

    Attributes:
        path: As SVG writes it.
        kind: ``versions`` is the row of them, ``branch`` leads to what was not accepted,
            ``parent`` and ``merged`` to a parent that stands elsewhere.
        child: Name of the candidate whose parent it leads to; empty for other lines.
        parent: Name of that parent.
    """

    path: str
    kind: Literal["versions", "branch", "parent", "merged"]
    child: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """The whole picture.

    Attributes:
        nodes: The seed, then candidates in order.
        edges: In the order in which they are drawn.
        columns: Generation and its place from the left, in pixels.
        width: In pixels.
        height: In pixels.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    columns: tuple[tuple[int, int], ...]
    width: int
    height: int

    @property
    def crowded(self) -> bool:
        """Whether there are too many curves to show them all at once."""
        return sum(bool(edge.child) for edge in self.edges) > MOST_CURVES


def tree_of(record: RunRecord) -> Tree:
    """The family of a run's policies."""
    best = record.best.id
    seed = Node("seed", record.seed.id, "seed", record.seed.id == best, MARGIN, MARGIN, "the seed")
    nodes, edges = [seed], list[Edge]()
    first = {seed.policy: seed}  # where each policy stands that candidates may be made from
    columns, x, version = list[tuple[int, int]](), MARGIN, seed
    for generation, members in groupby(record.candidates, lambda one: one.generation):
        x += COLUMN
        columns.append((generation, x))
        placed = _placed(tuple(members), x, best)
        edges += _branches(placed, x)
        for one, node in placed:
            edges += _parents(one, node, first, version)
        for _, node in placed:
            first.setdefault(node.policy, node)
        nodes += (node for _, node in placed)
        accepted = [node for _, node in placed if node.kind == "accepted"]
        if accepted:
            version, x = accepted[-1], accepted[-1].x
    row = Edge(f"M{MARGIN} {MARGIN}H{x}", "versions")
    return Tree(
        tuple(nodes),
        (row, *edges),
        tuple(columns),
        x + MARGIN,
        max(node.y for node in nodes) + MARGIN,
    )


def _placed(
    members: Sequence[CandidateRecord], x: int, best: str
) -> list[tuple[CandidateRecord, Node]]:
    """A generation's candidates with their places: versions in the row, the others under it."""
    placed, versions, others = [], 0, 0
    for one in members:
        verdict = one.verdict
        if verdict.accepted:
            kind: Kind = "accepted"
            place = x + versions * COLUMN, MARGIN
            versions += 1
        else:
            others += 1
            kind = "unscored" if verdict.stage in UNSCORED else "rejected"
            place = x, MARGIN + others * ROW
        told = f"{one.name} {one.operator}: {_outcome(one)}"
        is_best = verdict.accepted and one.policy.id == best
        placed.append((one, Node(one.name, one.policy.id, kind, is_best, *place, told)))
    return placed


def _outcome(one: CandidateRecord) -> str:
    return "accepted" if one.verdict.accepted else f"rejected ({one.verdict.stage})"


def _branches(placed: Sequence[tuple[CandidateRecord, Node]], x: int) -> Iterator[Edge]:
    """From the row of versions down to each candidate under it."""
    under = [node.y for _, node in placed if node.kind != "accepted"]
    if under:
        twigs = "".join(f"M{x - BRANCH} {y}H{x}" for y in under)
        yield Edge(f"M{x - BRANCH} {MARGIN}V{max(under)}{twigs}", "branch")


def _parents(
    one: CandidateRecord, node: Node, first: Mapping[str, Node], version: Node
) -> Iterator[Edge]:
    """Curves to parents that are not the version left of a candidate."""
    for place, parent in enumerate(one.parents):
        stands = first.get(parent)
        if stands is None or stands.x >= node.x or stands is version:
            continue
        middle = (stands.x + node.x) // 2
        path = f"M{stands.x} {stands.y}C{middle} {stands.y} {middle} {node.y} {node.x} {node.y}"
        yield Edge(path, "merged" if place else "parent", node.name, stands.name)
