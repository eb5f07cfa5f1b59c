"""The front of a run in its report: what became of each policy, and whose score is comparable."""

from dataclasses import replace

import pytest
import yaml

from evolve.results.front import front_of
from evolve.results.run_record import read_run
from policies.errors import RunFolderError


@pytest.fixture
def record(run):
    (run / "pareto.yaml").unlink(missing_ok=True)
    return read_run(run)


def write(record, *points, **more):
    content = {"best": record.best.id, "limits": {}, "front": list(points), **more}
    (record.folder / "pareto.yaml").write_text(yaml.safe_dump(content))


def point(policy, accuracy, clusters, *, accepted=True):
    return {
        "policy": policy,
        "name": f"awi-{policy[:4]}",
        "accepted": accepted,
        "accuracy": accuracy,
        "clusters": clusters,
        "tokens_per_answer": 900.4,
    }


def test_a_run_without_one(record):
    assert front_of(record).table.rows == ()


def test_a_candidate_of_fewer_users_is_marked_and_says_why(record):
    first = record.candidates[0]
    verdict = replace(first.verdict, accepted=False, reason="no better")
    record = replace(record, candidates=(replace(first, verdict=verdict),))
    few = point(first.policy.id, 0.4, 4, accepted=False)
    write(record, few, point("abcdefabcdef", 0.4, 12), point(record.best.id, 0.5, 12))
    table = front_of(record).table
    assert [row[1:] for row in table.rows] == [
        ("0.400*", "4 of 12", "900", "rejected at the gate: no better"),
        ("0.400", "12", "900", "accepted"),
        ("0.500", "12", "900", "best"),
    ]
    assert "not comparable" in table.title


def test_without_such_a_candidate_nothing_is_marked(record):
    write(record, point(record.best.id, 0.5, 12))
    assert front_of(record).table.title == "Pareto front"


@pytest.mark.parametrize("content", ["{}", "[]", "", "front: 5", "{", "front: [{}]", "[" * 20_000])
def test_a_damaged_front_is_one_sentence(record, content):
    (record.folder / "pareto.yaml").write_text(content)
    with pytest.raises(RunFolderError, match="not what a run writes"):
        front_of(record)
