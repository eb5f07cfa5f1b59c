"""Policies by what people call them."""

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
