"""No command writes among the files of a run, by whatever way its folder is named."""

import pytest

from evolve.outside import check_outside
from policies.errors import RunFolderError


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text("")
    return folder


@pytest.mark.parametrize("place", ["best.yaml", "a/b/c/x.yaml", "policies/../x.yaml"])
def test_every_depth_is_refused(run, place):
    with pytest.raises(RunFolderError, match="is inside"):
        check_outside(run / place)


def test_links_are_followed(run, tmp_path):
    (tmp_path / "x.yaml").symlink_to(run / "best.yaml")
    (tmp_path / "there").symlink_to(run)
    for path in (tmp_path / "x.yaml", tmp_path / "there" / "x.yaml"):
        with pytest.raises(RunFolderError, match="is inside"):
            check_outside(path)


def test_one_file_may_be_allowed_and_is_no_way_to_another(run, tmp_path):
    page = run / "report.html"
    check_outside(page, allowed=page)
    page.symlink_to(run / "journal.jsonl")
    with pytest.raises(RunFolderError, match="is inside"):
        check_outside(page, allowed=page)


def test_other_places_are_free_and_what_is_no_path_is_said(run, tmp_path):
    check_outside(tmp_path / "runs" / "x.yaml")
    check_outside(tmp_path / ("x" * 300) / "x.yaml")
    with pytest.raises(RunFolderError, match="cannot be one"):
        check_outside(tmp_path / "\0")
