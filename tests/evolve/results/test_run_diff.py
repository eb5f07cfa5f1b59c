"""Two runs, versions or policy files side by side."""

import json
import shutil

import pytest

from evolve.event_lines import event_line
from evolve.journal import FILE, read_header
from evolve.results.run_diff import difference, find_side, to_json, without_figures
from evolve.results.run_record import read_run
from policies.difference import diff_policies
from policies.errors import PolicyFileError, RunFolderError
from policies.policy import seed_policy, write_policy


def test_two_versions_of_a_run(run, tmp_path):
    runs, record = tmp_path / "runs", read_run(run)
    a, b = find_side("mine:seed", runs), find_side("mine", runs)
    tables, text = difference(a, b)
    assert text == diff_policies(record.seed, record.best)
    assert [table.title for table in tables] == ["Test users"]
    told = json.loads(to_json(a, b))
    assert told["policies"] == [record.seed.id, record.best.id]
    assert told["test"] == [record.summary["test"][name] for name in ("seed", "best")]
    assert (told["options"], told["difference"]) == ({}, text)


def test_two_runs_that_were_asked_for_other_things(run, lives, tmp_path):
    a, b = find_side("mine", tmp_path / "runs"), find_side(str(lives), tmp_path / "runs")
    tables, _ = difference(a, b)
    changed = {row[0]: row[1:] for row in tables[0].rows}
    assert changed["scope"] == ("global", "user")
    assert "env" not in changed
    assert [row[0] for row in tables[1].rows] == [f"mine {a.policy.short_id}"]


def test_a_fair_comparison_is_pointed_out_where_this_is_none(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "runs" / "other")
    header = read_header(other)
    header["options"]["seed"] = 7
    _, rest = (other / FILE).read_bytes().split(b"\n", 1)
    (other / FILE).write_bytes(event_line("run", "header", header) + rest)
    tables, text = difference(*(find_side(name, tmp_path / "runs") for name in ("mine", "other")))
    assert [row[0] for row in tables[0].rows] == ["seed"]
    assert "evolve.eval" in tables[1].title
    assert text.endswith("are the same policy\n")


def test_policy_files_and_what_is_no_side(run, tmp_path):
    mine = seed_policy("awi").derive(settings={"write_every": 8})
    write_policy(mine, tmp_path / "mine.yaml")
    side = find_side(str(tmp_path / "mine.yaml"), tmp_path)
    assert (side.policy, side.record, side.tested) == (mine, None, None)
    tables, text = difference(side, find_side("mine:seed", tmp_path / "runs"))
    assert "write_every: 8 → 4" in text
    best = find_side("mine", tmp_path / "runs")
    assert f"figures of {side.name}: " in without_figures(side, best)
    assert without_figures(best, best) == ""
    assert [table.title for table in tables] == ["Test users"]
    with pytest.raises(PolicyFileError):
        find_side("none.yaml", tmp_path)
    (tmp_path / "mine.txt").write_text("Be kind.")
    with pytest.raises(PolicyFileError, match=r"a policy file .* evolve\.import_policy makes"):
        find_side(str(tmp_path / "mine.txt"), tmp_path / "runs")
    for name in ("nothing", "nothing:seed", "mine:nothing", ":", ""):
        with pytest.raises(RunFolderError):
            find_side(name, tmp_path / "runs")


def test_a_seed_policy_is_a_side_where_no_run_is_called_so(run, tmp_path):
    side = find_side("awi", tmp_path / "runs")
    assert (side.policy, side.record) == (seed_policy("awi"), None)
    mine = find_side("mine", tmp_path / "runs")
    assert difference(side, mine)[1] == diff_policies(side.policy, mine.policy)
    shutil.copytree(run, tmp_path / "runs" / "awi")
    assert find_side("awi", tmp_path / "runs").policy == mine.policy
