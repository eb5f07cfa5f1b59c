"""Files are whole or not there, links stay, and what is no file is left alone."""

import os
from pathlib import Path

import pytest

from policies.files import check_writable, read_whole, write_whole


def test_what_is_written_can_be_read_and_folders_are_made(tmp_path):
    write_whole(tmp_path / "a" / "b.txt", "é\n")
    assert read_whole(tmp_path / "a" / "b.txt") == "é\n".encode()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.txt"]


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_neither_read_nor_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device or a pipe"):
        read_whole(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device or a pipe"):
        write_whole(tmp_path / "pipe", "text")
    assert (tmp_path / "pipe").is_fifo()


def test_what_stood_there_stays_where_writing_fails(tmp_path):
    write_whole(tmp_path / "a", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "a", "\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_folder_is_no_file(tmp_path):
    for place in (tmp_path, "/"):
        with pytest.raises(IsADirectoryError, match="it is a folder"):
            write_whole(place, "text")


def test_what_could_be_written_is_known_beforehand_and_leaves_no_trace(tmp_path):
    (tmp_path / "file").touch()
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new" / "a" / "b.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["file/a", "a" * 300, "a" * 250, "new/" + "a" * 300, ".", "pipe"])
def test_what_could_not_be_written_is_known_beforehand(tmp_path, name):
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"."):
        check_writable(tmp_path / name)


def test_a_folder_that_takes_no_file_is_known_beforehand():
    with pytest.raises(OSError, match="No such file"):
        check_writable(Path("/proc/a"))
