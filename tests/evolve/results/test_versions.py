"""Policies by what people call them."""

from dataclasses import replace

import pytest

from evolve.results.run_record import read_run
from evolve.results.versions import find_policy, find_version
from policies.errors import RunFolderError
from policies.policy import seed_policy


def test_by_word_and_by_the_beginning_of_an_id(run):
    record = read_run(run)
    first = record.versions[1]
    assert find_version(record, "seed") == record.seed
    assert find_version(record, "best") == record.best
    assert find_version(record, first.short_id) == find_version(record, first.id[:4]) == first
    named = record.candidates[0]
    for name in (named.name, named.policy.name):
        assert find_version(record, name) == find_policy(record, name) == named.policy
    native = seed_policy("native")
    assert find_policy(record, native.id) == native


@pytest.mark.parametrize("name", ["", "abc", "zzzz", "BEST", "gen-001"])
def test_nothing_is_called_so(run, name):
    record = read_run(run)
    with pytest.raises(RunFolderError, match="its versions are"):
        find_version(record, name)


def test_a_policy_that_is_no_version(run):
    with pytest.raises(RunFolderError, match="names none; its versions"):
        find_version(read_run(run), seed_policy("native").id)


def test_a_name_of_several_candidates_and_of_one_that_was_rejected(run):
    record, rag = read_run(run), seed_policy("rag")
    one = record.candidates[0]
    twice = replace(record, candidates=(*record.candidates, replace(one, policy=record.seed)))
    with pytest.raises(RunFolderError, match="names 2;"):
        find_version(twice, one.name)
    policies = {**record.policies, rag.id: rag}
    rejected = replace(record, candidates=(replace(one, policy=rag),), policies=policies)
    assert find_policy(rejected, one.name) == rag
    with pytest.raises(RunFolderError, match="names none;"):
        find_version(rejected, one.name)


def test_the_policy_of_a_user(lives):
    record = read_run(lives)
    for user, own in record.own.items():
        assert find_policy(record, user) == own
