"""Files of a run folder: whole, by name, and swept of what a kill left."""

import json
import logging

import pytest
import yaml

from evolve.folder import RunFolder, logging_to
from evolve.optimize.archive import Archive, PassedOver, Version
from evolve.optimize.base import Verdict
from evolve.optimize.constraints import Constraints
from feedback.digest import Feedback
from policies.errors import RunFolderError
from policies.policy import Lineage, read_policy, seed_policy

SEED = seed_policy("awe")
CANDIDATE = SEED.derive(
    settings={"top_k": 7}, name="awe-gen-003.1", lineage=Lineage((SEED.id,), 3, "search", "f", "r")
)


def verdict(candidate, accepted=False):
    return Verdict(
        candidate.id, SEED.id, candidate.settings, "search", accepted, "gate", "why", 0.125, 900.0
    )


def test_a_candidate_is_kept_with_its_verdict(tmp_path):
    RunFolder(tmp_path / "run", "run").write_candidate("gen-003.1", CANDIDATE, verdict(CANDIDATE))
    (path,) = (tmp_path / "run").rglob("*.*")
    assert path.name == f"gen-003.1-{CANDIDATE.short_id}.yaml"
    kept = read_policy(path)
    assert (kept.id, kept.lineage) == (CANDIDATE.id, CANDIDATE.lineage)
    assert kept.scores == {
        "accepted": False,
        "stage": "gate",
        "reason": "why",
        "compared_with": SEED.id,
        "minibatch_difference": 0.125,
        "tokens_per_answer": 900.0,
    }


def test_a_candidate_that_is_its_parent_is_no_file(tmp_path):
    RunFolder(tmp_path, "r").write_candidate("gen-001.0", SEED, verdict(SEED))
    assert list(tmp_path.iterdir()) == []


def test_accepted_and_best_policies(tmp_path):
    folder = RunFolder(tmp_path / "run", "run")
    folder.write_version(Version(CANDIDATE, {"u1": 1.0, "u2": 0.25}))
    folder.write_best(CANDIDATE, {"split": "test"})
    accepted_name = f"gen-003-{CANDIDATE.short_id}.yaml"
    accepted = read_policy(tmp_path / "run" / "policies" / accepted_name)
    assert accepted.scores == {"split": "gate", "clusters": 2, "accuracy": 0.625}
    assert read_policy(tmp_path / "run" / "best.yaml").scores == {"split": "test"}
    folder.write_version(Version(CANDIDATE, {}))  # installed without a test
    assert read_policy(tmp_path / "run" / "policies" / accepted_name).scores == {}
    assert folder.name == "run"


@pytest.mark.parametrize("letter", ["u", "王"])
def test_a_long_id_of_a_user_is_shortened_with_its_hash(tmp_path, letter):
    folder = RunFolder(tmp_path, "r")
    for user in ("ann b", letter * 300, letter * 299 + "x"):
        folder.write_own(user, CANDIDATE)
    one, *others = sorted(path.name for path in (tmp_path / "policies").iterdir())
    assert one == f"ann_b-{CANDIDATE.short_id}.yaml"
    assert len(others) == 2
    assert all(name.startswith(letter * 20) for name in others)


def test_the_front_names_the_files_of_its_policies(tmp_path):
    gate = {"u1": 0.5, "u2": 0.25}
    cheap = SEED.derive(
        settings={"top_k": 5}, name="awe-gen-004.0", lineage=Lineage((SEED.id,), 4, "search")
    )
    start = Archive((Version(SEED, gate, 900.0),), constraints=Constraints(None, 1000))
    better = {user: accuracy + 0.5 for user, accuracy in gate.items()}
    archive = start.accept(CANDIDATE, better, 950.0)
    archive = archive.pass_over(PassedOver(cheap, SEED.id, -0.125, 2, 700.0))
    RunFolder(tmp_path, "r").write_pareto(archive)
    found = yaml.safe_load((tmp_path / "pareto.yaml").read_text())
    assert found["limits"] == {"memory_tokens": None, "answer_tokens": 1000}
    assert found["best"] == CANDIDATE.id
    assert [point["file"] for point in found["front"]] == [
        f"candidates/gen-004.0-{cheap.short_id}.yaml",
        None,
        f"policies/gen-003-{CANDIDATE.short_id}.yaml",
    ]
    assert [point["tokens_per_answer"] for point in found["front"]] == [700.0, 900.0, 950.0]
    assert found["front"][0]["accuracy"] == pytest.approx(found["front"][1]["accuracy"] - 0.125)
    assert [point["accepted"] for point in found["front"]] == [False, True, True]


def test_feedback_and_summary(tmp_path):
    folder = RunFolder(tmp_path, "r")
    folder.write_feedback(3, Feedback(SEED.id, {}, (), {}, {}, "# What failed\n"))
    folder.write_summary({"name": "Zoë"})
    assert (tmp_path / "feedback" / "gen-003.md").read_text() == "# What failed\n"
    assert json.loads((tmp_path / "summary.json").read_text()) == {"name": "Zoë"}


def test_what_a_kill_left_is_swept(tmp_path):
    folder = RunFolder(tmp_path, "r")
    folder.write_best(SEED, {})
    (tmp_path / "policies").mkdir()
    for half in (".best.yaml.12.tmp", "policies/.gen-001-1234.yaml.12.tmp"):
        (tmp_path / half).write_text("half")
    folder.sweep()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["best.yaml"]


def test_a_file_that_cannot_be_written(tmp_path):
    (tmp_path / "policies").write_text("in the way")
    with pytest.raises(
        RunFolderError, match=r"policies/gen-003.* cannot be .*; free space or mend"
    ):
        RunFolder(tmp_path, "r").write_version(Version(CANDIDATE, {"u1": 1.0}))


def test_the_log_is_the_folders_own(tmp_path):
    log = logging.getLogger("evolve")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with logging_to(tmp_path / name):
            log.debug("in %s", name)
    log.warning("nowhere")
    for name in ("one", "two"):
        (line,) = (tmp_path / name / "run.log").read_text().splitlines()
        assert line.endswith(f" DEBUG in {name}")
    assert log.handlers == []


def test_warnings_of_the_log_are_shown_without_their_time(tmp_path, capsys):
    with logging_to(tmp_path):
        logging.getLogger("evolve.lm").warning("calls are tried again: %s", "down")
        logging.getLogger("evolve").info("a line")
    assert capsys.readouterr() == ("", "calls are tried again: down\n")
    assert " WARNING calls are tried again: down\n" in (tmp_path / "run.log").read_text()


def test_a_log_that_cannot_be_opened(tmp_path):
    (tmp_path / "run.log").mkdir()
    with pytest.raises(RunFolderError, match="logs to its folder"), logging_to(tmp_path):
        raise AssertionError("not reached")
