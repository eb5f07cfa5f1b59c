"""Parts are left out as long as a run lasts, and what that costs is paired by draw."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

from benchmarks.ablation import ABLATIONS, Ablation, ablation_table
from evolve.optimize.gate import RUN_LEVEL
from tests.benchmarks.compare_cases import ran


@pytest.mark.parametrize("part", ["routing", "changes of both", "level correction"])
def test_a_part_is_left_out_and_put_back(part: str) -> None:
    ablation = ABLATIONS[part]
    module = import_module(ablation.module)
    original = getattr(module, ablation.name)
    assert ablation.is_there
    with ablation.left_out():
        assert getattr(module, ablation.name) is not original
    assert getattr(module, ablation.name) is original


def test_a_part_is_put_back_after_a_run_that_fails() -> None:
    from evolve import trial

    original = trial.next_level
    with pytest.raises(ValueError, match="none"), ABLATIONS["level correction"].left_out():
        raise ValueError("none")
    assert trial.next_level is original


def test_without_the_correction_every_candidate_has_the_level_of_the_run() -> None:
    from evolve import trial

    with ABLATIONS["level correction"].left_out():
        assert trial.next_level(0.1, 20) == RUN_LEVEL
    assert trial.next_level(0.1, 20) == RUN_LEVEL / 20


def test_what_is_not_there_cannot_be_left_out() -> None:
    assert not Ablation("x", "y", "evolve.trial", "Trials", {"no_such": False}).is_there
    assert not Ablation("x", "y", "evolve.trial", "NoSuch").is_there


def test_costs_are_paired_by_draw() -> None:
    whole = [ran(0.5), ran(0.4), ran(0.6)]
    without = [replace(ran(one.best.memory and one.best.memory - 0.1)) for one in whole]
    table = ablation_table({"": whole, "routing": without}, 400)
    first, second = table.rows
    assert first[:2] == ("joint", "3")
    assert first[3:5] == ("-", "-")
    assert second[0] == "without routing"
    assert second[3] == "+0.100 [+0.100, +0.100]"
    assert second[4] == "+0.075 [+0.075, +0.075]"  # three quarters of the budget at 0.1 less
    assert len({len(row) for row in (table.columns, *table.rows)}) == 1
