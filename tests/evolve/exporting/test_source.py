"""Which policy is meant: files, runs, versions by every name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.agents.own import declare_agent
from evolve.exporting.source import _rejected, _scored_by, find_source
from evolve.journal import read_header
from evolve.results.run_record import read_run
from policies.errors import ExportError, PolicyFileError, RunFolderError
from policies.policy import seed_policy, write_policy


def test_versions_of_a_run_by_every_name(run):
    record = read_run(run)
    first = record.candidates[0]
    best = find_source(str(run), None)
    assert best.policy == record.best
    assert (best.named, best.rejected) == (str(run / "best.yaml"), None)
    assert not best.origin.real
    assert "stand-in" in best.origin.sentence
    for version in (first.name, first.policy.id, first.policy.id[:6]):
        source = find_source(str(run), version)
        assert source.policy == first.policy
        assert source.named.endswith(f"-{first.policy.short_id}.yaml")
    seed = find_source(str(run), "seed")
    assert (seed.policy, seed.named) == (record.seed, "awi")


def test_a_warning_is_for_what_is_no_version(run):
    record, other = read_run(run), seed_policy("rag")
    one = record.candidates[0]
    verdict = replace(one.verdict, accepted=False, reason="as its parent")
    rejected = [replace(one, policy=policy, verdict=verdict) for policy in (record.seed, other)]
    record = replace(record, candidates=tuple(rejected))
    assert _rejected(record, record.seed) is None
    assert _rejected(record, other) == "as its parent"
    assert _rejected(replace(record, own={"ann": other}), other) is None


def test_what_scores_it_names_the_environment_and_the_class(run, tmp_path):
    env = read_header(run)["options"]["env"]
    assert find_source(str(run), None).scored_by == ("--env", env)
    assert find_source(str(run / "best.yaml"), None).scored_by == ("--env", env)
    name = "evolve.agents.example:UserWords"
    write_policy(declare_agent(name), tmp_path / "alone.yaml")
    assert find_source(str(tmp_path / "alone.yaml"), None).scored_by == ("--agent", name)
    given = {"env": "chats.jsonl", "probes": "probes.yaml", "agent": name}
    assert _scored_by(seed_policy("awe"), given)[2:] == ("--probes", "probes.yaml")
    assert _scored_by(seed_policy("awe"), {"env": "sample"}) == ()


def test_a_file_is_a_policy_and_has_no_versions(run):
    best = str(run / "best.yaml")
    source = find_source(best, None)
    assert (source.policy.id, source.named) == (read_run(run).best.id, best)
    with pytest.raises(ExportError, match="leave one of the two out"):
        find_source(best, "seed")


@pytest.mark.parametrize("version", ["", "x", "none", "gen-099.0", "0000000"])
def test_a_version_that_is_none_is_refused(run, version):
    with pytest.raises(RunFolderError, match=r"candidate such as gen-001\.0.* names none"):
        find_source(str(run), version)


def test_what_is_neither_run_nor_policy_is_refused(tmp_path):
    with pytest.raises(RunFolderError):
        find_source(str(tmp_path), None)
    with pytest.raises(PolicyFileError, match="cannot be read"):
        find_source(str(tmp_path / "no.yaml"), None)
