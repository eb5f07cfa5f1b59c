"""A run folder is removed whole, and nothing else ever is."""

import shutil

import pytest

from evolve.journal import locked
from evolve.results.purge import Content, purge
from policies.errors import RunFolderError


def test_all_of_it_goes(run):
    (run / "link").symlink_to(run.parent)
    content = Content.of(run)
    assert content.files == sum(not path.is_dir() or path.is_symlink() for path in run.rglob("*"))
    assert content.size > 100_000
    purge(run)
    assert not run.exists()
    assert run.parent.is_dir()


def test_what_is_left_alone(run, tmp_path):
    with locked(run), pytest.raises(RunFolderError, match="in use by another"):
        purge(run)
    link = tmp_path / "link"
    link.symlink_to(run)
    with pytest.raises(RunFolderError, match="is a link to"):
        purge(link)
    shutil.copytree(run, run / "inner")
    with pytest.raises(RunFolderError, match="holds another in"):
        purge(run)
    assert (run / "journal.jsonl").is_file()
