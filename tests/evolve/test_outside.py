"""No command writes among the files of a run, by whatever way its folder is named."""

from pathlib import Path

import pytest

import policies
from evolve.outside import check_outside, replaces
from policies.errors import OutputFileError, RunFolderError


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


def test_files_of_the_package_stay(tmp_path):
    seeds = Path(policies.__file__).parent / "seeds"
    (tmp_path / "x.yaml").symlink_to(seeds / "awe.yaml")
    for path in (seeds / "awe.yaml", seeds / "new.yaml", tmp_path / "x.yaml"):
        with pytest.raises(OutputFileError, match="Files of Mnemotune itself"):
            check_outside(path)


def test_only_what_is_ours_is_replaced(tmp_path):
    place = tmp_path / "x.txt"
    assert not replaces(place, str.isupper, "capitals")
    place.write_text("OURS")
    assert replaces(place, str.isupper, "capitals")
    for other in (b"mine", b"", b"\xff"):
        place.write_bytes(other)
        with pytest.raises(OutputFileError, match="or capitals to replace, but"):
            replaces(place, str.isupper, "capitals")
        assert place.read_bytes() == other
