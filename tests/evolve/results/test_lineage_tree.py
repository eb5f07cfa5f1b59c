"""Where policies stand in the picture of their family."""

from types import SimpleNamespace

from evolve.optimize.base import Verdict
from evolve.results.candidates import CandidateRecord
from evolve.results.lineage_tree import MARGIN, MOST_CURVES, tree_of
from policies.policy import Lineage, seed_policy

SEED = seed_policy("awe")


def candidate(name, top_k, stage="gate", accepted=False, parents=(SEED,)):
    generation = int(name[4:7])
    lineage = Lineage(tuple(parent.id for parent in parents), generation, "search")
    policy = SEED.derive(settings={"top_k": top_k}, lineage=lineage)
    verdict = Verdict(policy.id, SEED.id, {}, "search", accepted, stage, "why")
    return CandidateRecord(name, policy, verdict, {})


def record(*candidates, best=SEED):
    return SimpleNamespace(seed=SEED, best=best, candidates=candidates)


def test_a_run_without_candidates_is_its_seed():
    tree = tree_of(record())
    assert [(node.name, node.kind, node.best) for node in tree.nodes] == [("seed", "seed", True)]
    assert not tree.crowded


def test_versions_stand_in_a_row_and_the_others_under_it():
    first = candidate("gen-001.0", 7, "minibatch")
    second = candidate("gen-001.1", 8, accepted=True)
    third = candidate("gen-002.0", 9, "text", parents=(second.policy,))
    tree = tree_of(record(first, second, third, best=second.policy))
    nodes = {node.name: node for node in tree.nodes}
    assert {name: node.kind for name, node in nodes.items()} == {
        "seed": "seed",
        "gen-001.0": "rejected",
        "gen-001.1": "accepted",
        "gen-002.0": "unscored",
    }
    assert nodes["seed"].y == nodes["gen-001.1"].y == MARGIN
    assert nodes["gen-001.0"].y > MARGIN
    assert nodes["seed"].x < nodes["gen-001.0"].x == nodes["gen-001.1"].x < nodes["gen-002.0"].x
    assert [node.name for node in tree.nodes if node.best] == ["gen-001.1"]
    assert [generation for generation, _ in tree.columns] == [1, 2]
    assert [edge.kind for edge in tree.edges] == ["versions", "branch", "branch"]


def test_two_versions_of_a_generation_stand_side_by_side():
    first = candidate("gen-001.0", 7, accepted=True)
    second = candidate("gen-001.1", 8, accepted=True)
    _, one, other = tree_of(record(first, second)).nodes
    assert (one.y, other.y) == (MARGIN, MARGIN)
    assert one.x < other.x


def test_a_curve_leads_to_a_parent_that_is_not_the_version_to_the_left():
    draft = candidate("gen-001.0", 7, "gate")
    built = candidate("gen-002.0", 8, parents=(draft.policy,))
    merged = candidate("gen-002.1", 9, parents=(SEED, draft.policy))
    curves = [edge for edge in tree_of(record(draft, built, merged)).edges if edge.child]
    assert [(edge.kind, edge.child, edge.parent) for edge in curves] == [
        ("parent", "gen-002.0", "gen-001.0"),
        ("merged", "gen-002.1", "gen-001.0"),
    ]


def test_many_curves_are_a_crowd():
    draft = candidate("gen-001.0", 1, "gate")
    several = [
        candidate(f"gen-{n:03d}.0", 20 + n, parents=(draft.policy,))
        for n in range(2, MOST_CURVES + 3)
    ]
    assert tree_of(record(draft, *several)).crowded
    assert not tree_of(record(draft, *several[1:])).crowded


def test_a_proposal_of_which_nothing_came_hangs_by_what_it_was_to_change():
    draft = candidate("gen-001.0", 7, "gate")
    verdict = Verdict(draft.policy.id, draft.policy.id, {}, "rewrite", False, "text", "why")
    nothing = CandidateRecord("gen-002.0", draft.policy, verdict, {})
    (curve,) = [edge for edge in tree_of(record(draft, nothing)).edges if edge.child]
    assert (curve.child, curve.parent) == ("gen-002.0", "gen-001.0")
