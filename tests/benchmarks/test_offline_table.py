"""What the offline model is held against: the rows of the table, the lists, ranges."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.memory import Ground
from benchmarks.offline_table import BASE, LISTS, Crowd, list_policies, table_policies
from benchmarks.published import FIGURES
from evolve.lm.offline import Capacity
from evolve.stats import Interval


def test_the_rows_differ_from_the_design_by_what_they_say() -> None:
    policies = table_policies()
    base = policies[BASE].settings
    assert [base[n] for n in ("write_every", "local_window", "top_k", "memory_order")] == [
        *(2, 4, 30),
        "time",
    ]
    for name, policy in policies.items():
        if ", " in name:
            setting, value = name.split(", ")[1].split()
            changed = {k: v for k, v in policy.settings.items() if v != base[k]}
            assert changed == {setting: int(value)}
    assert set(FIGURES) - set(policies) == {"awe, top_k 30"}


def test_the_lists_are_as_long_as_they_should_be() -> None:
    policies = list_policies("awe", 1)
    assert tuple(policies) == LISTS
    lines = {name: p.texts["memory_types"].strip().split("\n") for name, p in policies.items()}
    seed, half, everything, placebo, longer = (lines[name] for name in LISTS)
    assert (len(half), len(everything), len(placebo)) == (18, 36, 36)
    assert set(half) < set(everything) < set(longer)
    assert set(seed) < set(placebo)
    assert len(longer) >= 2 * Capacity().held_types


@pytest.mark.parametrize(
    ("interval", "strict", "holds"),
    [
        (Interval(0.02, -0.05, 0.09, 9), True, True),
        (Interval(0.04, -0.05, 0.13, 9), True, False),
        (Interval(0.04, -0.05, 0.13, 9), False, True),
        (Interval(0.14, 0.05, 0.23, 9), False, False),
    ],
)
def test_a_range_holds_the_mean_or_on_few_users_part_of_the_interval(
    interval: Interval, strict: bool, holds: bool
) -> None:
    crowd = Crowd("a", Ground(("u",), np.ones((1, 2)), np.ones((1, 2)), 0), {}, strict)
    assert crowd.claim_within("x", interval, -0.03, 0.03).holds is holds
