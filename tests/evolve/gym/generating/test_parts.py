"""What is made is kept beside the file, by one command at a time, for one environment."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.gym.generating.parts import missing, opened, parts_of
from policies.errors import EnvironmentFileError, RunFolderError


@pytest.fixture
def folder(tmp_path):
    return parts_of(tmp_path / "travel.json")


def test_the_folder_stands_beside_the_file():
    assert parts_of(Path("a/travel.json")) == Path("a/travel.parts")


def test_what_is_kept_is_found_again(folder, brief, kinds, tiny):
    with opened(folder, brief, "m") as parts:
        assert (parts.kinds(brief), parts.user(0), parts.failures("user-0000")) == (None, None, 0)
        parts.keep_kinds(kinds)
        parts.keep_user(0, tiny()[0])
        parts.keep_failure("user-0001", "no luck")
        parts.keep_failure("user-0001", "no luck again")
    with opened(folder, brief, "m") as parts:
        assert (parts.kinds(brief), parts.user(0)) == (kinds, tiny()[0])
        assert parts.failures("user-0001") == 2
    assert missing(folder, 3) == 2
    assert not list(folder.glob("*.tmp"))


def test_one_command_at_a_time(folder, brief):
    with (
        opened(folder, brief, "m"),
        pytest.raises(RunFolderError, match="another one is at work"),
        opened(folder, brief, "m"),
    ):
        pass


@pytest.mark.parametrize(
    ("change", "model", "named"),
    [({"seed": 1}, "m", "--seed 0, not 1"), ({}, "n", "--model 'm', not 'n'")],
)
def test_parts_of_something_else_are_refused(folder, brief, change, model, named):
    with opened(folder, brief, "m"):
        pass
    with (
        pytest.raises(RunFolderError, match=named),
        opened(folder, replace(brief, **change), model),
    ):
        pass


def test_a_path_that_is_no_folder_is_refused(folder, brief):
    folder.write_text("")
    with pytest.raises(RunFolderError, match="cannot be used"), opened(folder, brief, "m"):
        pass


def test_files_that_were_spoiled_are_named(folder, brief, kinds, tiny):
    with opened(folder, brief, "m") as parts:
        parts.keep_user(0, tiny()[0])
        (folder / "states.json").write_text("[]")
        with pytest.raises(RunFolderError, match=r"states\.json holds .* must have 6 members"):
            parts.kinds(brief)
        (folder / "user-0000.json").write_text(json.dumps({**tiny()[0], "qas": []}))
        with pytest.raises(EnvironmentFileError, match=r"user-0000\.json, user ann"):
            parts.user(0)
        (folder / "user-0000.json").write_text("{")
        with pytest.raises(RunFolderError, match="is not JSON"):
            parts.user(0)


def test_what_the_disk_refuses_is_told(folder, brief, kinds):
    with opened(folder, brief, "m") as parts:
        (folder / "states.json").mkdir()
        with pytest.raises(RunFolderError, match="cannot be written"):
            parts.keep_kinds(kinds)
